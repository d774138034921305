"""Where each record's row is in a file, without holding all keys in memory."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from threading import Lock
from typing import cast


@dataclass(frozen=True)
class Entry:
    """What is known of a record that has a row."""

    fingerprint: str
    """Of the record and of what its result depends on."""
    place: int
    """Where the row begins."""


class KeyIndex:
    """A table from key to entry that SQLite moves to a temporary file when it grows."""

    def __init__(self) -> None:
        self._lock = Lock()
        # An empty name is a private file that is deleted when it is closed.
        self._db = sqlite3.connect("", check_same_thread=False, isolation_level=None)
        self._db.execute("pragma journal_mode = off")
        self._db.execute("pragma synchronous = off")
        self._db.execute(
            "create table rows (key text primary key, fingerprint text, place integer) "
            "strict, without rowid"
        )
        self._db.execute("begin")

    def add(self, key: str, entry: Entry) -> None:
        """Note a row; the first one with a key counts."""
        with self._lock:
            self._db.execute(
                "insert or ignore into rows values (?, ?, ?)", (key, entry.fingerprint, entry.place)
            )

    def find(self, key: str) -> Entry | None:
        """Give what is known of a key, or None."""
        with self._lock:
            row = self._db.execute(
                "select fingerprint, place from rows where key = ?", (key,)
            ).fetchone()
        return None if row is None else Entry(*cast("tuple[str, int]", row))

    def close(self) -> None:
        """Forget everything."""
        with self._lock:
            self._db.close()
