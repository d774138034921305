"""What acts: tool definitions, injection and the executor."""

from __future__ import annotations

__all__: list[str] = []
