"""A file of JSON lines that is written to its end, and can be gone on with after a crash."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from ...state.errors import StorageError
from ..structured_output.json_value import is_object

_BLOCK = 1 << 16


class JsonLines:
    """One JSON object per line. A line that a crash left half-written is cut off on opening."""

    def __init__(self, path: str | Path) -> None:
        """Open a file to go on at its end, or begin one.

        Raises:
            StorageError: The file cannot be read and written.
        """
        self.path = Path(path)
        try:
            # Kept open on purpose: one line is written at a time, as results come.
            self._file = self.path.open("a+b")
            self._cut_unfinished_line()
        except OSError as error:
            raise self._unusable(error) from error

    def rows(self) -> Iterator[dict[str, Any]]:
        """Give the objects that the file holds.

        Raises:
            StorageError: A line is no JSON object.
        """
        try:
            with self.path.open("rb") as file:
                for number, line in enumerate(file, 1):
                    yield self._parsed(line, number)
        except OSError as error:
            raise self._unusable(error) from error

    def append(self, row: Mapping[str, Any]) -> None:
        """Write an object as one line. A crash of the process after this does not lose it.

        Raises:
            StorageError: It cannot be written.
        """
        try:
            text = json.dumps(row, ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            msg = f"A row for {str(self.path)!r} is no JSON: {error}; give plain JSON values."
            raise StorageError(msg) from error
        try:
            self._file.write(text.encode("utf-8", "replace") + b"\n")
            self._file.flush()
        except OSError as error:
            raise self._unusable(error) from error

    def close(self) -> None:
        """Let the file go."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _parsed(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise self._broken(number) from error
        if not is_object(row):
            raise self._broken(number)
        return row

    def _cut_unfinished_line(self) -> None:
        end = position = self._file.seek(0, os.SEEK_END)
        while position > 0:
            start = max(0, position - _BLOCK)
            self._file.seek(start)
            newline = self._file.read(position - start).rfind(b"\n")
            if newline >= 0:
                position = start + newline + 1
                break
            position = start
        if position < end:
            self._file.truncate(position)
        self._file.seek(0, os.SEEK_END)

    def _broken(self, number: int) -> StorageError:
        msg = (
            f"Line {number} of {str(self.path)!r} is no JSON object, so it is not known which "
            "records are done; repair the line or begin a new file."
        )
        return StorageError(msg)

    def _unusable(self, error: OSError) -> StorageError:
        msg = f"{str(self.path)!r} cannot be used: {error}; see that it is a writable file."
        return StorageError(msg)
