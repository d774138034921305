"""Which stored rows hold the pauses that still wait.

A pause is written beside the newest checkpoint of its thread, and it waits until its task has an
output there. So neither a checkpoint nor the messages in it need to be read.

Source: the rules in ``langgraph/pregel/_task_status.py`` of langgraph 1.2.24.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from langgraph.checkpoint.base import writes_sort_key

_ALL_THREADS = """
    SELECT min(thread_id) FROM checkpoints
    UNION ALL
    SELECT (SELECT min(thread_id) FROM checkpoints WHERE thread_id > thread.id)
    FROM thread WHERE thread.id IS NOT NULL
"""
# One look into the index for each thread, however many checkpoints each has.

_ONE_THREAD = "SELECT {thread}"

_PAUSES = """
WITH RECURSIVE
thread(id) AS ({threads}),
newest(thread_id, checkpoint_id) AS (
    SELECT id, (
        SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = id AND checkpoint_ns = ''
    )
    FROM thread WHERE id IS NOT NULL
)
SELECT pause.thread_id, pause.checkpoint_id, {path} AS task_path, pause.task_id,
    pause.type, pause.{value}, answers.type, answers.{value}
FROM newest JOIN {writes} AS pause
    ON pause.thread_id = newest.thread_id AND pause.checkpoint_ns = ''
    AND pause.checkpoint_id = newest.checkpoint_id
LEFT JOIN {writes} AS answers
    ON answers.thread_id = pause.thread_id AND answers.checkpoint_ns = ''
    AND answers.checkpoint_id = pause.checkpoint_id AND answers.task_id = pause.task_id
    AND answers.channel = '__resume__'
WHERE pause.channel = '__interrupt__' AND NOT EXISTS (
    SELECT 1 FROM {writes} AS output
    WHERE output.thread_id = pause.thread_id AND output.checkpoint_ns = ''
        AND output.checkpoint_id = pause.checkpoint_id AND output.task_id = pause.task_id
        AND output.channel NOT IN
            ('__interrupt__', '__resume__', '__error__', '__error_source_node__')
)
ORDER BY pause.checkpoint_id, pause.thread_id
"""


class PauseRow(NamedTuple):
    """A stored pause."""

    thread_id: str
    checkpoint_id: str
    task_path: str
    task_id: str
    type: str
    """How the value is written: ``msgpack``."""
    value: bytes
    """The interrupts of the task."""
    answers_type: str | None
    """How its answers are written; None if there are none."""
    answers: bytes | None
    """The answers that the task has, to earlier questions or to this one."""


def pauses_query(
    *, writes: str, value: str, thread: str | None = None, has_path: bool = True
) -> str:
    """The query for all pauses that wait, those that wait longest first.

    Args:
        writes: Name of the table of writes.
        value: Name of the column with what was written.
        thread: The place of a thread's id among the parameters, to ask for that one only.
        has_path: Whether the table has the column ``task_path``.
    """
    threads = _ALL_THREADS if thread is None else _ONE_THREAD.format(thread=thread)
    path = "pause.task_path" if has_path else "''"
    return _PAUSES.format(threads=threads, path=path, writes=writes, value=value)


def by_thread(rows: Iterable[tuple[object, ...]]) -> Iterator[list[PauseRow]]:
    """The rows of each thread, its tasks in the order in which langgraph counts them."""
    pauses = map(_as_pause, rows)
    for _, group in groupby(pauses, key=lambda row: row.thread_id):
        yield sorted(group, key=lambda row: writes_sort_key(row.task_path, row.task_id))


def _as_pause(row: tuple[object, ...]) -> PauseRow:
    """A row whose ids are texts: SQLite keeps bytes in columns of text, too."""
    ids = [value if isinstance(value, str) else repr(value) for value in row[:4]]
    return PauseRow(*ids, *row[4:])  # type: ignore[arg-type]
