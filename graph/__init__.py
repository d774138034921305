"""What runs: the agent, its three nodes, routing, structured output, models and commands."""

from __future__ import annotations

__all__: list[str] = []
