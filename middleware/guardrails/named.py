"""What all guardrails made of a check have in common."""

from __future__ import annotations

from ..base import AgentMiddleware
from .check import GuardedCheck


class CheckedMiddleware(AgentMiddleware):
    """A middleware that is named after its check."""

    def __init__(self, name: str, check: GuardedCheck) -> None:
        self._name = name
        self._check = check

    @property
    def name(self) -> str:
        """Name of the check."""
        return self._name
