"""A database of threads, by its file name or address."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Any, Protocol

from langgraph.checkpoint.base import BaseCheckpointSaver

from .postgres import PostgresThreads, is_postgres
from .sqlite import SqliteThreads
from .thread import WaitingThread


class ThreadDatabase(Protocol):
    """The threads of a checkpointer, with or without the program that they belong to."""

    @property
    def name(self) -> str:
        """What a person calls it: no password in it."""
        ...

    def waiting(self, thread_id: str | None = None) -> Iterator[WaitingThread]:
        """The threads that wait, the one that waits longest first; or the given one if it does.

        Raises:
            StorageError: The database cannot be read, or holds no threads.
        """
        ...

    def reader(self) -> AbstractContextManager[BaseCheckpointSaver[Any]]:
        """A checkpointer to read from."""
        ...

    def answering(self, thread_id: str) -> AbstractAsyncContextManager[None]:
        """Keep other processes that do the same from answering in a thread until the block ends.

        Two that both see a pause before either answer is stored would each run the call. A process
        that dies keeps nobody out.

        Raises:
            NotWaitingError: Another process is answering in the thread.
            StorageError: The database cannot be used.
        """
        ...

    def saver(self) -> AbstractAsyncContextManager[BaseCheckpointSaver[Any]]:
        """A checkpointer for an agent that goes on with the threads."""
        ...


def open_threads(database: str | os.PathLike[str]) -> ThreadDatabase:
    """The threads in a SQLite file, or at an address like ``postgresql://host/name``.

    Raises:
        MissingExtraError: The extra ``sqlite`` or ``postgres`` is not installed.
        StorageError: There is no such file.
    """
    if isinstance(database, str) and is_postgres(database):
        return PostgresThreads(database)
    return SqliteThreads(database)


def waiting_threads(database: str | os.PathLike[str]) -> Iterator[WaitingThread]:
    """Every thread of a database that waits for a person, the one that waits longest first.

    The time that it takes does not depend on how long the threads are.

    Args:
        database: A SQLite file, or an address like ``postgresql://host/name``.

    Raises:
        StorageError: It cannot be read, or holds no threads.
        MissingExtraError: The extra ``sqlite`` or ``postgres`` is not installed.
    """
    return open_threads(database).waiting()
