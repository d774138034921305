"""What tests of guardrails made of checks share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from interlock.middleware import Verdict, allow

THREAD: Any = {"configurable": {"thread_id": "t"}}


class Count:
    """A check that gives verdicts by what a text holds, and notes what it was given."""

    def __init__(self, **verdicts: Verdict | Callable[[Any], Verdict]) -> None:
        self.verdicts = verdicts
        self.seen: list[Any] = []

    def __call__(self, value: Any) -> Verdict:
        self.seen.append(value)
        for word, verdict in self.verdicts.items():
            if word in str(value):
                return verdict(value) if callable(verdict) else verdict
        return allow()


@pytest.fixture(scope="session")
def counting() -> type[Count]:
    """``counting(word=verdict)``: a check that notes in ``seen`` what it was given."""
    return Count


@pytest.fixture(params=["updates", "values", "messages"])
def shown(request: pytest.FixtureRequest) -> Callable[..., str]:
    """``shown(agent, input)``: all that a stream and the checkpoints of a run hold, as text."""

    def all_of(agent: Any, value: Any) -> str:
        chunks = [*agent.stream(value, THREAD, stream_mode=request.param)]
        stored = [s.values for s in agent.get_state_history(THREAD)]
        raw = [c.checkpoint["channel_values"] for c in agent.checkpointer.list(THREAD)]
        writes = [c.pending_writes for c in agent.checkpointer.list(THREAD)]
        return repr([chunks, stored, raw, writes])

    return all_of
