"""A file of JSON lines that is written to its end, and can be gone on with after a crash."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from threading import Lock
from typing import Any, Self

from ...state.errors import StorageError
from ..structured_output.json_value import is_object
from .file_lock import lock_file

_BLOCK = 1 << 16


class JsonLines:
    """One JSON object per line. A line that a crash left half-written is cut off on opening.

    Threads may share it; processes may not, and a second one is refused.
    """

    def __init__(self, path: str | Path) -> None:
        """Open a file to go on at its end, or begin one.

        Raises:
            StorageError: The file cannot be read and written, or another process uses it.
        """
        self.path = Path(path)
        self._lock = Lock()
        try:
            # Without a buffer of Python's own: a line is in the file when it is written.
            self._file = self.path.open("a+b", buffering=0)
            try:
                lock_file(self._file)
                self._end = self._cut_unfinished_line()
            except BaseException:
                self._file.close()
                raise
        except OSError as error:
            raise self._unusable(error) from error

    def rows(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Give the objects that the file holds, each with the place that :meth:`read` takes.

        Raises:
            StorageError: A line is no JSON object.
        """
        try:
            with self.path.open("rb") as file:
                place = 0
                for number, line in enumerate(file, 1):
                    yield place, self._parsed(line, f"Line {number}")
                    place += len(line)
        except OSError as error:
            raise self._unusable(error) from error

    def read(self, place: int) -> dict[str, Any]:
        """Give the object at a place.

        Raises:
            StorageError: There is none, or the file cannot be read.
        """
        try:
            with self.path.open("rb") as file:
                file.seek(place)
                return self._parsed(file.readline(), f"The line at byte {place}")
        except OSError as error:
            raise self._unusable(error) from error

    def append(self, row: Mapping[str, Any]) -> int:
        """Write an object as one line and give its place.

        A crash of the process after this does not lose it.

        Raises:
            StorageError: It cannot be written; the file is then as it was.
        """
        try:
            text = json.dumps(row, ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            msg = f"A row for {str(self.path)!r} is no JSON: {error}; give plain JSON values."
            raise StorageError(msg) from error
        line = text.encode("utf-8", "replace") + b"\n"
        try:
            with self._lock:
                return self._append(line)
        except (OSError, ValueError) as error:  # a closed file raises the latter
            raise self._unusable(error) from error

    def close(self) -> None:
        """Let the file go."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _append(self, line: bytes) -> int:
        place = self._end
        try:
            self._write(line)
        except OSError:
            # Half a line would make one with the next.
            self._file.truncate(place)
            raise
        self._end += len(line)
        return place

    def _write(self, line: bytes) -> None:
        written = self._file.write(line)
        if written != len(line):
            msg = f"only {written} of {len(line)} bytes could be written"
            raise OSError(msg)

    def _parsed(self, line: bytes, which: str) -> dict[str, Any]:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise self._broken(which) from error
        if not is_object(row):
            raise self._broken(which)
        return row

    def _cut_unfinished_line(self) -> int:
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
        return self._file.seek(0, os.SEEK_END)

    def _broken(self, which: str) -> StorageError:
        msg = (
            f"{which} of {str(self.path)!r} is no JSON object, so it is not known which "
            "records are done; repair the line or begin a new file."
        )
        return StorageError(msg)

    def _unusable(self, error: Exception) -> StorageError:
        msg = f"{str(self.path)!r} cannot be used: {error}; see that it is a writable file."
        return StorageError(msg)
