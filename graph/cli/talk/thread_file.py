"""Where a conversation is kept: a SQLite file, or the memory of this process."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver

from ....state.errors import MissingExtraError, StorageError


@asynccontextmanager
async def open_thread(path: Path | None) -> AsyncGenerator[BaseCheckpointSaver[Any], None]:
    """Give the checkpointer of a conversation, and close it at the end.

    Args:
        path: The SQLite file, made if there is none and then readable by its owner only. Without
            it the conversation ends with the process.

    Raises:
        MissingExtraError: SQLite threads are not installed.
        StorageError: The file cannot be opened, or holds something else.
    """
    if path is None:
        yield InMemorySaver()
        return
    try:
        import aiosqlite  # noqa: PLC0415 - an extra
        from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver  # noqa: PLC0415 - an extra
    except ImportError:
        msg = "--thread needs the extra 'sqlite': pip install 'interlock[sqlite]'."
        raise MissingExtraError(msg, extra="sqlite") from None
    try:
        connection = await aiosqlite.connect(_made(path))
    except (OSError, sqlite3.Error) as error:
        raise _unusable(path, error) from error
    try:
        saver = AsyncSqliteSaver(connection)
        try:
            await saver.setup()
        except sqlite3.Error as error:
            raise _unusable(path, error) from error
        yield saver
    finally:
        await connection.close()


def _made(path: Path) -> Path:
    path.touch(mode=0o600)
    return path


def _unusable(path: Path, error: Exception) -> StorageError:
    reason = getattr(error, "strerror", None) or str(error)
    msg = (
        f"The thread file {str(path)!r} cannot be used: {reason}. "
        "Name a new file, or one that an earlier chat made."
    )
    return StorageError(msg)
