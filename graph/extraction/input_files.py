"""Records from files: whole texts, lines, JSON lines, or tables with named columns."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import TextIOWrapper
from itertools import chain
from pathlib import Path
from typing import IO, Literal, get_args

from ...state.errors import ConfigurationError, InvalidInputError
from ..structured_output.json_value import is_object
from .record import Record

Form = Literal["text", "lines", "jsonl", "csv"]
"""How a file holds records: as one text, one per line, as JSON lines, or as a table."""

STDIN = "-"
"""Name of standard input."""

_FORMS: dict[str, Form] = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "csv"}
_DELIMITERS = ",;\t|"


@dataclass(frozen=True)
class InputFiles:
    """Files and what is taken from them. Reading them again gives the same records."""

    paths: Sequence[str]
    """Paths; ``-`` is standard input, which can be read once."""
    form: Form | None = None
    """How they hold records; without it by their names, and as text where those do not tell."""
    columns: Sequence[str] = ()
    """Columns that the model is given, by name as JSON; of a single one only its text."""
    key: str | None = None
    """Column with the records' keys; without it a key is file and number of the row."""

    def __post_init__(self) -> None:
        if not self.paths:
            msg = f"There is no input; name files, or {STDIN!r} for standard input."
            raise ConfigurationError(msg)
        if self.form is not None and self.form not in get_args(Form):
            msg = f"No form {self.form!r}; use one of {', '.join(get_args(Form))}."
            raise ConfigurationError(msg)

    @property
    def are_rereadable(self) -> bool:
        """Whether the records can be counted before they are used."""
        return STDIN not in self.paths

    def __iter__(self) -> Iterator[Record]:
        """Give the records, one at a time.

        Raises:
            InvalidInputError: A file cannot be read, or a row of it; the message says where.
        """
        for path in self.paths:
            with _reading(path):
                yield from self._records(path)

    def _records(self, path: str) -> Iterator[Record]:
        form = self.form or _FORMS.get(Path(path).suffix.lower(), "text")
        with _opened(path) as file:
            if form == "text":
                yield Record(0, path, file.read())
            elif form == "lines":
                lines = (line.rstrip("\r\n") for line in file)
                yield from _numbered(path, lines)
            else:
                rows = _json_rows(file) if form == "jsonl" else _table_rows(file)
                for number, row in rows:
                    yield self._record(row, number, path)

    def _record(self, row: object, number: int, path: str) -> Record:
        where = f"Row {number} of {path!r}"
        if isinstance(row, str) and not self.columns and self.key is None:
            return Record(0, f"{path}:{number}", row)
        if not is_object(row):
            msg = f"{where} has no columns: {row!r:.100}; give JSON objects, or texts alone."
            raise InvalidInputError(msg)
        columns = self.columns or [name for name in row if name != self.key]
        named = [*columns, *([self.key] if self.key is not None else [])]
        for name in named:
            if name not in row:
                msg = f"{where} has no column {name!r}; it has {', '.join(row)}."
                raise InvalidInputError(msg, key=name)
        key = f"{path}:{number}" if self.key is None else str(row[self.key] or "")
        if not key:
            msg = f"{where} has an empty key {self.key!r}; give each row its own."
            raise InvalidInputError(msg, key=self.key)
        if len(self.columns) == 1:
            value = row[self.columns[0]]
            return Record(0, key, value if isinstance(value, str) else json.dumps(value))
        chosen = {name: row[name] for name in columns}
        return Record(0, key, json.dumps(chosen, ensure_ascii=False))


def _numbered(path: str, lines: Iterable[str]) -> Iterator[Record]:
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield Record(0, f"{path}:{number}", line)


def _json_rows(file: IO[str]) -> Iterator[tuple[int, object]]:
    for number, line in enumerate(file, 1):
        if not line.strip():
            continue
        try:
            yield number, json.loads(line)
        except (ValueError, RecursionError) as error:
            msg = f"line {number} is no JSON ({error})"
            raise ValueError(msg) from error


def _table_rows(file: IO[str]) -> Iterator[tuple[int, object]]:
    head = file.readline()
    if not head.strip():
        return
    delimiter = max(_DELIMITERS, key=head.count)
    rows = csv.reader(chain([head], file), delimiter=delimiter, strict=True)
    names = next(rows)
    for number, cells in enumerate(rows, 1):
        if cells and len(cells) != len(names):
            msg = f"row {number} has {len(cells)} cells, and the table {len(names)} columns"
            raise ValueError(msg)
        if cells:
            yield number, dict(zip(names, cells, strict=True))


@contextmanager
def _opened(path: str) -> Generator[IO[str]]:
    if path == STDIN:
        if isinstance(sys.stdin, TextIOWrapper):
            sys.stdin.reconfigure(encoding="utf-8-sig", errors="strict", newline="")
        yield sys.stdin
        return
    with Path(path).open(encoding="utf-8-sig", newline="") as file:
        yield file


@contextmanager
def _reading(path: str) -> Generator[None]:
    """Say which file it was that could not be read."""
    try:
        yield
    except InvalidInputError:
        raise
    except UnicodeDecodeError as error:
        msg = f"{path!r} is no text in UTF-8 ({error.reason} at byte {error.start}); convert it."
        raise InvalidInputError(msg) from error
    except (OSError, ValueError, csv.Error) as error:
        msg = f"{path!r} cannot be read: {error}; mend it, or name its form."
        raise InvalidInputError(msg) from error
