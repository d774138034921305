"""What travels through an agent: its state, the run's ledger and the error tree."""

from __future__ import annotations

__all__: list[str] = []
