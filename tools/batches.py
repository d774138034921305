"""In which order the calls of one reply may run: a pure function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class StateAccess:
    """What one call may do with the agent's state."""

    reads: bool = False
    """Its tool is given state."""
    writes: bool = False
    """Its tool may update state."""


def next_batch(calls: Sequence[T], access: Sequence[StateAccess]) -> list[T]:
    """The calls that may run now, at the same time, in call order.

    A call that is given state must see what the calls before it in the reply write, so it waits
    for each of them that may write. All other calls run at once.

    Args:
        calls: Calls that have no result yet, in call order.
        access: What each of them may do with state, in the same order.

    Returns:
        At least one call, unless there is none.

    Source: the tool scheduler of Haystack 3.4, which also orders reads after writes.
    """
    batch: list[T] = []
    written = False
    for call, may in zip(calls, access, strict=True):
        if not (may.reads and written):
            batch.append(call)
        written = written or may.writes
    return batch
