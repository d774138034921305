"""Threads in a SQLite file."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import AsyncGenerator, Generator, Iterator
from contextlib import ExitStack, asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver

from ...state.errors import MissingExtraError, StorageError
from ...state.storage import strict_checkpointer
from .file_lock import file_lock
from .newest_pauses import by_thread, pauses_query
from .thread import WaitingThread, answered_elsewhere, read_thread

_DIGEST_LENGTH = 32
_HAS_PATH = "SELECT count(*) FROM pragma_table_info('writes') WHERE name = 'task_path'"


class SqliteThreads:
    """The threads of langgraph's ``SqliteSaver`` and ``AsyncSqliteSaver``."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Read the threads in an existing file.

        Raises:
            StorageError: There is no such file.
        """
        self._path = Path(path)
        if not self._path.is_file():
            msg = f"There is no file {self.name!r}; name the database of the paused threads."
            raise StorageError(msg)

    @property
    def name(self) -> str:
        """The file."""
        return str(self._path)

    def waiting(self, thread_id: str | None = None) -> Iterator[WaitingThread]:
        """The threads that wait; see :class:`~interlock.graph.approvals.ThreadDatabase`."""
        thread = None if thread_id is None else "?"
        with self._connected() as connection:
            (has_path,) = connection.execute(_HAS_PATH).fetchone()
            query = pauses_query(
                writes="writes", value="value", thread=thread, has_path=bool(has_path)
            )
            rows = connection.execute(query, () if thread_id is None else (thread_id,))
            yield from filter(None, map(read_thread, by_thread(rows)))

    @contextmanager
    def reader(self) -> Generator[BaseCheckpointSaver[Any]]:
        """A checkpointer that cannot write."""
        try:
            from langgraph.checkpoint.sqlite import SqliteSaver  # noqa: PLC0415 - an extra
        except ImportError:
            raise _missing() from None
        with self._connected() as connection:
            yield strict_checkpointer(SqliteSaver(connection), ())

    @asynccontextmanager
    async def answering(self, thread_id: str) -> AsyncGenerator[None]:
        """Keep others out; see :class:`~interlock.graph.approvals.ThreadDatabase`."""
        digest = hashlib.sha256(thread_id.encode()).hexdigest()[:_DIGEST_LENGTH]
        path = self._path.resolve()
        with ExitStack() as stack:
            try:
                lock = file_lock(path.with_name(f"{path.name}-answering-{digest}"))
                is_ours = stack.enter_context(lock)
            except OSError as error:
                msg = f"{self.name!r} is in a folder that cannot be written: {error}."
                raise StorageError(msg) from error
            if not is_ours:
                raise answered_elsewhere(thread_id)
            yield

    @asynccontextmanager
    async def saver(self) -> AsyncGenerator[BaseCheckpointSaver[Any]]:
        """A checkpointer for an agent."""
        try:
            from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver  # noqa: PLC0415 - an extra
        except ImportError:
            raise _missing() from None
        async with AsyncSqliteSaver.from_conn_string(str(self._path)) as saver:
            yield saver

    @contextmanager
    def _connected(self) -> Generator[sqlite3.Connection]:
        address = f"{self._path.resolve().as_uri()}?mode=ro"
        try:
            with closing(sqlite3.connect(address, uri=True, check_same_thread=False)) as connection:
                connection.text_factory = _as_text
                yield connection
        except sqlite3.Error as error:
            msg = (
                f"{self.name!r} cannot be read as a database of threads: {error}. Name the file "
                "that the checkpointer of the program writes."
            )
            raise StorageError(msg) from error


def _as_text(stored: bytes) -> str:
    """Text of the database: what is none is shown as such, and hides nothing else."""
    return stored.decode("utf-8", "backslashreplace")


def _missing() -> MissingExtraError:
    msg = "Threads in SQLite need the extra 'sqlite': pip install 'interlock[sqlite]'."
    return MissingExtraError(msg, extra="sqlite")
