"""In which order the calls of one reply may run: a pure function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class StateAccess:
    """What one call may do with the agent's state."""

    reads: frozenset[str] = frozenset()
    """Keys that it declares to take arguments from."""
    writes: frozenset[str] = frozenset()
    """Keys that it declares to update."""
    replaces: frozenset[str] = frozenset()
    """Keys among them that it merges by a function of its own."""
    may_read: bool = False
    """Its tool is given state in another way, so it may see any key."""
    may_write: bool = False
    """Its tool may update any key."""
    alone: bool = False
    """Its tool is given the live state: no other call runs beside it."""

    @property
    def changes(self) -> bool:
        """Whether it may change the state at all."""
        return self.may_write or self.alone or bool(self.writes)

    @property
    def minds(self) -> bool:
        """Whether it matters to it what runs before it."""
        return self.may_read or self.alone or bool(self.reads or self.replaces)


def next_batch(calls: Sequence[T], access: Sequence[StateAccess]) -> list[T]:
    """The calls that may run now, at the same time, in call order.

    A call that declares to read a key runs after every call of the reply that declares to write
    it, wherever that stands; calls that wait for each other run in call order. A call that is
    given state in another way sees what the calls before it in the reply write. Two calls that
    write one key run together, unless one of them merges it by a function of its own: their
    results are merged in call order. A call that is given the live state runs alone, after the
    calls before it and before the calls behind it.

    Args:
        calls: Calls that have no result yet, in call order.
        access: What each of them may do with state, in the same order.

    Returns:
        At least one call, unless there is none.

    Source: the tool scheduler of Haystack 3.4.
    """
    if not any(a.changes for a in access) or not any(a.minds for a in access):
        return list(calls)
    waits = _waits(access)
    reached = [_reached(n, waits) for n in range(len(calls))]
    return [
        call
        for n, call in enumerate(calls)
        if all(n in reached[m] and n < m for m in reached[n] if m != n)
    ]


def _waits(access: Sequence[StateAccess]) -> list[list[int]]:
    """For each call the calls that it waits for."""
    return [
        [m for m, other in enumerate(access) if m != n and _waits_for(one, other, before=m < n)]
        for n, one in enumerate(access)
    ]


def _waits_for(one: StateAccess, other: StateAccess, *, before: bool) -> bool:
    """Whether ``one`` waits for ``other``, which stands before or behind it in the reply."""
    if one.reads & other.writes:
        return True
    if not before:
        return False
    return (
        one.alone
        or other.alone
        or (one.may_read and other.changes)
        or (bool(one.reads or one.replaces) and other.may_write)
        or (bool(other.replaces) and one.may_write)
        or bool(one.replaces & other.writes or one.writes & other.replaces)
    )


def _reached(start: int, waits: Sequence[Sequence[int]]) -> set[int]:
    """The calls that a call waits for, directly or not; itself among them in a circle."""
    found: set[int] = set()
    ahead = [*waits[start]]
    while ahead:
        call = ahead.pop()
        if call not in found:
            found.add(call)
            ahead.extend(waits[call])
    return found
