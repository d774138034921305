"""Decisions as they are made, for whoever listens around the hook in which that happens."""

from __future__ import annotations

import time
from contextvars import ContextVar
from dataclasses import dataclass

from .decision import DecisionType


@dataclass(frozen=True)
class Heard:
    """One decision about one call."""

    tool: str
    call_id: str
    decision: DecisionType
    at_ns: int
    """Nanoseconds since 1970."""


LISTENING: ContextVar[list[Heard] | None] = ContextVar("interlock_decisions", default=None)
"""Where decisions of this context are noted, if anybody wants to know."""


def tell(tool: str, call_id: str, decision: DecisionType) -> None:
    """Note a decision."""
    if (heard := LISTENING.get()) is not None:
        heard.append(Heard(tool, call_id, decision, time.time_ns()))
