"""A thread that waits for a person, as far as its pauses tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, cast
from uuid import UUID

from langgraph.types import Interrupt

from ...middleware.approval.pending import PendingApproval, pending_in
from ...state.approval_errors import NotWaitingError
from ...state.errors import StorageError
from ...state.serializer import StrictSerializer
from .answered import NODES, answered_ids, number_of
from .newest_pauses import PauseRow

_STRICT = StrictSerializer(())
_TICKS_BEGAN = datetime(1582, 10, 15, tzinfo=UTC)
_TIME_ORDERED = 6


@dataclass(frozen=True)
class WaitingThread:
    """A thread in which something waits for an answer."""

    thread_id: str
    checkpoint_id: str
    """The checkpoint at which it waits."""
    approvals: tuple[PendingApproval, ...] = ()
    """What waits, in the order in which it was asked."""
    problem: str | None = None
    """Why it cannot be read here, if it cannot; it may wait all the same."""

    @property
    def since(self) -> datetime | None:
        """When the paused step began, in UTC; None if the id of its checkpoint does not say."""
        try:
            ident = UUID(self.checkpoint_id)
        except ValueError:
            return None
        if ident.version != _TIME_ORDERED:
            return None
        # Version 6 of the standard: the clock's bits from high to low, four bits of version within.
        ticks = (ident.int >> 80) << 12 | (ident.int >> 64 & 0xFFF)
        return _TICKS_BEGAN + timedelta(microseconds=ticks // 10)


def read_thread(rows: Sequence[PauseRow]) -> WaitingThread | None:
    """What waits in one thread; None if everything was answered.

    Args:
        rows: Its pauses, in task order; at least one.
    """
    first = rows[0]
    try:
        interrupts = [interrupt for row in rows for interrupt in _interrupts(row)]
    except StorageError as error:
        return WaitingThread(first.thread_id, first.checkpoint_id, problem=str(error))
    if not interrupts:
        return None
    return WaitingThread(first.thread_id, first.checkpoint_id, tuple(pending_in(interrupts)))


def answered_elsewhere(thread_id: str) -> NotWaitingError:
    """The error for an answer in a thread that somebody else is answering in."""
    msg = f"Somebody is answering in thread {thread_id!r} just now; look again when that is done."
    return NotWaitingError(msg)


def _interrupts(row: PauseRow) -> list[Interrupt[Any]]:
    """The interrupts of a row: rebuilt strictly, so that stored bytes can call nothing.

    Raises:
        StorageError: They are written in another way, or are something else.
    """
    found = _loaded(row.type, row.value)
    several = isinstance(found, (list, tuple))
    interrupts = list(cast("Sequence[Any]", found)) if several else [found]
    if not all(isinstance(i, Interrupt) for i in interrupts):
        msg = "What is stored as a pause is none."
        raise StorageError(msg)
    if row.answers_type is None:
        return interrupts
    # The path of a task that was not sent ends with its node's name.
    nodes = (*NODES, row.task_path.rpartition(", ")[2])
    answers = number_of(_loaded(row.answers_type, row.answers))
    answered = answered_ids("", row.task_id, nodes, answers)
    return [i for i in interrupts if i.id not in answered]


def _loaded(kind: str, value: bytes | None) -> Any:
    # What stands in a column of SQLite may be of any type, and a number would be a length.
    if kind != "msgpack" or not isinstance(cast("Any", value), (bytes, memoryview)):
        msg = f"The pause is stored as {kind!r}, which only its own program can read."
        raise StorageError(msg)
    try:
        return _STRICT.loads_typed((kind, bytes(cast("bytes", value))))
    except Exception as error:  # boundary: the bytes may be anything
        msg = f"The pause cannot be read: {type(error).__name__}. Its program may still know it."
        raise StorageError(msg) from error
