"""Threads in a PostgreSQL database."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver

from ...state.errors import ConfigurationError, MissingExtraError, StorageError
from ...state.storage import strict_checkpointer
from .newest_pauses import by_thread, pauses_query
from .thread import WaitingThread, answered_elsewhere, read_thread

_SCHEMES = ("postgresql://", "postgres://")


def is_postgres(database: str) -> bool:
    """Whether this is the address of a PostgreSQL database."""
    return database.startswith(_SCHEMES)


class PostgresThreads:
    """The threads of langgraph's ``PostgresSaver`` and ``AsyncPostgresSaver``."""

    def __init__(self, address: str) -> None:
        """Read the threads at an address like ``postgresql://user@host/name``.

        Raises:
            MissingExtraError: The extra ``postgres`` is not installed.
            ConfigurationError: The address is malformed.
        """
        try:
            import psycopg  # noqa: PLC0415 - an extra
            from psycopg.conninfo import conninfo_to_dict  # noqa: PLC0415 - an extra
        except ImportError:
            msg = "Threads in PostgreSQL need the extra 'postgres': pip install 'interlock[postgres]'."
            raise MissingExtraError(msg, extra="postgres") from None
        self._psycopg = psycopg
        self._address = address
        try:
            self._parts = conninfo_to_dict(address)
        except psycopg.Error:
            # Its text would repeat the address, and the password in it.
            msg = "The address of the database is malformed; write postgresql://user@host/name."
            raise ConfigurationError(msg) from None

    @property
    def name(self) -> str:
        """The database's host and name, without user and password."""
        host, name = self._parts.get("host") or "localhost", self._parts.get("dbname") or ""
        return f"postgresql://{host}/{name}"

    def waiting(self, thread_id: str | None = None) -> Iterator[WaitingThread]:
        """The threads that wait; see :class:`~interlock.graph.approvals.ThreadDatabase`."""
        thread = None if thread_id is None else "%s"
        query = pauses_query(writes="checkpoint_writes", value="blob", thread=thread)
        with self._told(), self._psycopg.connect(self._address) as connection:
            rows = connection.execute(
                query.encode(), () if thread_id is None else (thread_id,), binary=True
            )
            yield from filter(None, map(read_thread, by_thread(rows)))

    @contextmanager
    def reader(self) -> Generator[BaseCheckpointSaver[Any]]:
        """A checkpointer to read from."""
        from langgraph.checkpoint.postgres import PostgresSaver  # noqa: PLC0415 - an extra

        with self._told(), PostgresSaver.from_conn_string(self._address) as saver:
            yield strict_checkpointer(saver, ())

    @asynccontextmanager
    async def answering(self, thread_id: str) -> AsyncGenerator[None]:
        """Keep others out; see :class:`~interlock.graph.approvals.ThreadDatabase`."""
        digest = hashlib.sha256(f"interlock:{thread_id}".encode()).digest()
        key = int.from_bytes(digest[:8], signed=True)
        connection = await self._connect()
        # The server gives the lock back when the connection ends, however it ends.
        async with connection:
            cursor = await connection.execute("SELECT pg_try_advisory_lock(%s)", (key,))
            found = await cursor.fetchone()
            if found is None or not found[0]:
                raise answered_elsewhere(thread_id)
            yield

    async def _connect(self) -> Any:
        with self._told():
            return await self._psycopg.AsyncConnection.connect(self._address, autocommit=True)

    @asynccontextmanager
    async def saver(self) -> AsyncGenerator[BaseCheckpointSaver[Any]]:
        """A checkpointer for an agent."""
        from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver  # noqa: PLC0415 - an extra

        with self._told():
            async with AsyncPostgresSaver.from_conn_string(self._address) as saver:
                yield saver

    @contextmanager
    def _told(self) -> Generator[None]:
        """Say which database it is that fails."""
        try:
            yield
        except self._psycopg.Error as error:
            msg = (
                f"{self.name} cannot be read as a database of threads: {error}. Name the one that "
                "the checkpointer of the program writes."
            )
            raise StorageError(msg) from error
