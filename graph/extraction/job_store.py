"""The results of a job on disk: what a job that was stopped, even by SIGKILL, goes on from.

One SQLite file per job. Each result is committed when it is there, so at most the records that
were in flight are done again. The file holds plain data: values are kept as the JSON that the
model gave and made again by the schema.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, Self, cast

from ...state.errors import InvalidInputError, StorageError
from .record import Record
from .result import Extraction

FORMAT_VERSION = 1
"""Version of the file's tables; a file of another version is refused."""

_MARK = 0x1071_0C4B
"""Tells our files from other SQLite databases (``application_id``)."""

_TABLES = """
create table job (name text primary key, value text not null) strict;
create table results (
    position integer primary key,
    key text not null unique,
    digest text not null,
    data text,
    schema_name text not null,
    error text,
    error_type text,
    last_output text not null,
    attempts integer not null,
    usage text not null,
    seconds real not null
) strict;
"""

_INSERT = (
    "insert into results (position, key, digest, data, schema_name, error, error_type, "
    "last_output, attempts, usage, seconds) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


class JobStore:
    """The file of one job; used by one process at a time."""

    def __init__(self, path: str | Path, settings: Mapping[str, Any]) -> None:
        """Open the file of a job, or begin one.

        Args:
            path: The file.
            settings: What the results depend on, as JSON values: schema, model, instructions.

        Raises:
            StorageError: The file is in use, is no job or one of another version, or cannot be
                read or written.
            InvalidInputError: The job was begun with other settings.
        """
        self.path = Path(path)
        self._lock = Lock()
        with self._errors():
            self._db = sqlite3.connect(self.path, timeout=1, check_same_thread=False)
        try:
            with self._errors():
                self._prepare()
                self._compare(
                    {name: json.dumps(settings[name], sort_keys=True) for name in settings}
                )
        except BaseException:
            self._db.close()
            raise

    def find(self, record: Record) -> Extraction[Any] | None:
        """Give the result of a record that is done, without its value, or None.

        Raises:
            InvalidInputError: The job knows another text under the record's key, or the record
                under another key: the input is not the one that the job was begun with.
        """
        with self._errors(), self._lock:
            rows = self._db.execute(
                "select * from results where key = ? or position = ?", (record.key, record.position)
            ).fetchall()
        found = [row for row in rows if row[:3] == (record.position, record.key, record.digest)]
        if rows and not found:
            msg = (
                f"Record {record.position} with the key {record.key!r} is not the one that the job "
                f"in {str(self.path)!r} has done; give the same input, or begin a job in a new file."
            )
            raise InvalidInputError(msg, key=record.key)
        return _result(found[0], record) if found else None

    def add(self, result: Extraction[Any]) -> None:
        """Keep the result of a record that is not done yet. It is on disk when this returns.

        Raises:
            InvalidInputError: Another record with the same key or position is done.
            StorageError: The file cannot be written.
        """
        record = result.record
        row = (
            record.position,
            record.key,
            record.digest,
            None if result.rejected else self._json(result.data, record),
            result.schema_name,
            _storable(result.error),
            result.error_type,
            _storable(result.last_output),
            result.attempts,
            json.dumps(dict(result.usage)),
            result.seconds,
        )
        try:
            with self._errors(), self._lock, self._db:
                self._db.execute(_INSERT, row)
        except StorageError as error:
            if not isinstance(error.__cause__, sqlite3.IntegrityError):
                raise
            msg = f"Two records have the key {record.key!r}; give each record its own."
            raise InvalidInputError(msg, key=record.key) from error

    def results(self) -> Iterator[Extraction[Any]]:
        """Give all results in the order of the input, without their texts and values."""
        position = -1
        while True:
            with self._errors(), self._lock:
                rows = self._db.execute(
                    "select * from results where position > ? order by position limit 500",
                    (position,),
                ).fetchall()
            if not rows:
                return
            for row in rows:
                yield _result(row, Record(row[0], row[1], ""))
            position = rows[-1][0]

    def close(self) -> None:
        """Let the file go."""
        with self._lock:
            self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _prepare(self) -> None:
        # Alone in the file, so that two runs of one job cannot do the same records; the lock
        # goes with the process, however it ends.
        self._db.execute("pragma locking_mode = exclusive")
        self._db.execute("pragma journal_mode = wal")
        self._db.execute("pragma synchronous = normal")
        (mark,) = self._db.execute("pragma application_id").fetchone()
        (version,) = self._db.execute("pragma user_version").fetchone()
        if (mark, version) == (_MARK, FORMAT_VERSION):
            return
        if self._db.execute("select count(*) from sqlite_master").fetchone() != (0,):
            msg = (
                f"{str(self.path)!r} is no job of this version (found {mark}/{version}, expected "
                f"{_MARK}/{FORMAT_VERSION}); begin a job in a new file."
            )
            raise StorageError(msg)
        self._db.executescript(
            f"begin; {_TABLES} pragma application_id = {_MARK};"
            f"pragma user_version = {FORMAT_VERSION}; commit;"
        )

    def _compare(self, settings: Mapping[str, str]) -> None:
        known = dict(self._db.execute("select name, value from job").fetchall())
        if not known:
            with self._db:
                self._db.executemany("insert into job values (?, ?)", settings.items())
            return
        changed = sorted(
            name for name in {*known, *settings} if known.get(name) != settings.get(name)
        )
        if changed:
            msg = (
                f"The job in {str(self.path)!r} was begun with another {' and '.join(changed)}; "
                "give the same, or begin a job in a new file."
            )
            raise InvalidInputError(msg, key=changed[0])

    def _json(self, data: object, record: Record) -> str:
        try:
            return json.dumps(data)
        except (TypeError, ValueError, RecursionError) as error:
            msg = (
                f"The value of record {record.key!r} is no JSON and cannot be kept in "
                f"{str(self.path)!r}: {error}; let no middleware put other objects into it."
            )
            raise StorageError(msg) from error

    @contextmanager
    def _errors(self) -> Generator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            in_use = "locked" in str(error)
            hint = "another process uses it" if in_use else "see that it is a writable job file"
            msg = f"The job file {str(self.path)!r} cannot be used: {error}; {hint}."
            raise StorageError(msg) from error


def _result(row: Any, record: Record) -> Extraction[Any]:
    data, schema_name, error, error_type, last_output, attempts, usage, seconds = row[3:]
    return Extraction(
        record,
        error=error,
        error_type=error_type,
        attempts=attempts,
        usage=cast("dict[str, Any]", json.loads(usage)),
        seconds=seconds,
        last_output=last_output,
        data=None if data is None else json.loads(data),
        schema_name=schema_name,
    )


def _storable(text: str | None) -> str | None:
    """Text that is valid Unicode, as SQLite wants it."""
    return None if text is None else text.encode("utf-8", "replace").decode()
