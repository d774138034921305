"""The results of a job as JSON lines: for people and programs to read, and to go on from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic_core import to_jsonable_python

from ...state.errors import InvalidInputError, StorageError
from ..structured_output.json_value import is_object
from ..structured_output.shape import WRAPPED_FIELD
from .json_lines import JsonLines
from .key_index import Entry, KeyIndex
from .record import Record
from .result import Extraction


class ResultFile:
    """A file with one row for each record that is done.

    A row of an extracted record has ``key``, ``value`` (as the schema made it), ``data`` (the
    model's own JSON, where it differs), ``schema``, ``attempts``, ``usage`` and ``seconds``; one
    of a rejected record has ``text``, ``error_type``, ``error`` and ``last_output`` instead of
    the value. ``fingerprint`` tells whether record, schema, model and instructions are still the
    same when a job is gone on with.
    """

    def __init__(self, path: str | Path, settings: Mapping[str, Any]) -> None:
        """Open a file to go on with, or begin one.

        Args:
            path: The file.
            settings: What the results depend on, as JSON values.

        Raises:
            StorageError: The file is in use, cannot be read and written, or holds other rows.
        """
        self._settings = json.dumps(settings, sort_keys=True).encode()
        self._lines = JsonLines(path)
        self._index = KeyIndex()
        try:
            for place, row in self._lines.rows():
                self._note(place, row)
        except BaseException:
            self.close()
            raise

    def find(self, record: Record) -> Extraction[Any] | None:
        """Give the result of a record that is done, without its value, or None.

        Raises:
            InvalidInputError: The row of that key was made from another text, or with another
                schema, model or instructions.
        """
        entry = self._known(record)
        return None if entry is None else _result(self._lines.read(entry.place), record)

    def add(self, result: Extraction[Any]) -> None:
        """Write a result, unless its row is there. It is in the file when this returns.

        Raises:
            InvalidInputError: As :meth:`find`.
            StorageError: The file cannot be written.
        """
        if self._known(result.record) is None:
            fingerprint = self._fingerprint(result.record)
            place = self._lines.append({**result_row(result), "fingerprint": fingerprint})
            self._index.add(result.record.key, Entry(fingerprint, place))

    def close(self) -> None:
        """Let the file go."""
        self._lines.close()
        self._index.close()

    def _note(self, place: int, row: Mapping[str, Any]) -> None:
        key, fingerprint = row.get("key"), row.get("fingerprint")
        if not isinstance(key, str) or not isinstance(fingerprint, str):
            path = str(self._lines.path)
            msg = f"{path!r} holds rows of something else; give another file."
            raise StorageError(msg)
        self._index.add(key, Entry(fingerprint, place))

    def _known(self, record: Record) -> Entry | None:
        entry = self._index.find(record.key)
        if entry is not None and entry.fingerprint != self._fingerprint(record):
            msg = (
                f"The row of {record.key!r} in {str(self._lines.path)!r} was made from another "
                "text, or with another schema, model or instructions; give the same, a key of its "
                "own to each record, or begin a new file."
            )
            raise InvalidInputError(msg, key=record.key)
        return entry

    def _fingerprint(self, record: Record) -> str:
        data = self._settings + record.digest.encode()
        return hashlib.blake2b(data, digest_size=12).hexdigest()


def plain_value(result: Extraction[Any]) -> Any:
    """Give the value of a result as JSON, in the names of its schema."""
    return to_jsonable_python(result.value, by_alias=True, inf_nan_mode="constants")


def result_row(result: Extraction[Any]) -> dict[str, Any]:
    """Give a result as a row, without its fingerprint."""
    about: dict[str, Any] = {
        "attempts": result.attempts,
        "usage": dict(result.usage),
        "seconds": result.seconds,
    }
    if result.rejected:
        return {
            "key": result.record.key,
            "text": result.record.text,
            "error_type": result.error_type,
            "error": result.error,
            "last_output": result.last_output,
            **about,
        }
    value = plain_value(result)
    row = {"key": result.record.key, "value": value}
    if result.data != value and not _is_wrapped(result.data, value):
        row["data"] = result.data
    return {**row, "schema": result.schema_name, **about}


def _is_wrapped(data: Any, value: Any) -> bool:
    """Whether data is the value in its one field, which reads the same without it."""
    return not is_object(value) and is_object(data) and data == {WRAPPED_FIELD: value}


def _result(row: Mapping[str, Any], record: Record) -> Extraction[Any]:
    return Extraction(
        record,
        error=row.get("error"),
        error_type=row.get("error_type"),
        attempts=row.get("attempts", 0),
        usage=row.get("usage", {}),
        seconds=row.get("seconds", 0.0),
        last_output=row.get("last_output", ""),
        data=row.get("data", row.get("value")),
        schema_name=row.get("schema", ""),
    )
