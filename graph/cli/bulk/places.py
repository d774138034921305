"""Where the results of a job go, and what is in the way."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from ....state.errors import ConfigurationError, StorageError
from ...extraction import Extraction
from ...extraction.result_file import result_row
from ...extraction.tables import Table, open_table, table_row
from ...structured_output import SchemaSpec

_LINES = (".jsonl", ".ndjson")
_TABLES = (".csv", ".tsv", ".parquet")


@dataclass(frozen=True)
class Places:
    """The files of a job."""

    output: Path | None
    """JSON lines or a table; None is standard output."""
    given_rejects: Path | None
    """Rejected records, where the user wants them."""

    def __post_init__(self) -> None:
        if self.output is not None and self.output.suffix not in (*_LINES, *_TABLES):
            kinds = ", ".join((*_LINES, *_TABLES))
            msg = f"--output {str(self.output)!r} is of no known kind; use one of {kinds}."
            raise ConfigurationError(msg)

    @property
    def is_table(self) -> bool:
        """Whether the output is written in one go, so that the job needs a file of its own."""
        return self.output is not None and self.output.suffix in _TABLES

    @property
    def job(self) -> Path | None:
        """What the job goes on from: the output itself, or a file beside a table."""
        if self.output is None or not self.is_table:
            return self.output
        return self.output.with_name(f"{self.output.name}.job")

    @property
    def rejects(self) -> Path | None:
        """Rejected records; beside the output if not said otherwise."""
        if self.given_rejects is not None or self.output is None:
            return self.given_rejects
        return self.output.with_name(f"{self.output.stem}.rejects.jsonl")

    def check_free(self) -> None:
        """Refuse to begin over an earlier job.

        Raises:
            ConfigurationError: One of the files holds something.
        """
        for path in (self.output, self.job, self.rejects):
            if path is not None and path.exists() and path.stat().st_size:
                msg = f"{str(path)!r} is there already; go on with it by --resume, or remove it."
                raise ConfigurationError(msg)

    def tidy(self) -> None:
        """Remove the file of rejects if nothing was rejected and nobody asked for it."""
        path = self.rejects
        is_ours = self.given_rejects is None and path is not None
        if path is not None and is_ours and path.exists() and not path.stat().st_size:
            path.unlink()


class LinesOut:
    """Results as JSON lines on a stream."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def add(self, result: Extraction[Any]) -> None:
        """Write one."""
        self._stream.write(json.dumps(result_row(result), ensure_ascii=False) + "\n")
        self._stream.flush()

    def finish(self) -> None:
        """Nothing is left to do."""

    def give_up(self) -> None:
        """Leave what was written: each line is whole."""


class TableOut:
    """A table that takes its place when it is complete, so that nobody reads half of one."""

    def __init__(self, path: Path, specs: tuple[SchemaSpec[Any], ...]) -> None:
        self._path = path
        self._part = path.with_name(f"{path.name}.part")
        self._table: Table = open_table(self._part, path.suffix, specs)

    def add(self, result: Extraction[Any]) -> None:
        """Write one."""
        self._table.add(table_row(result))

    def finish(self) -> None:
        """Put the table in its place.

        Raises:
            StorageError: It cannot be written.
        """
        try:
            self._table.close()
            self._part.replace(self._path)
        except OSError as error:
            msg = f"{str(self._path)!r} cannot be written: {error}; give another file."
            raise StorageError(msg) from error

    def give_up(self) -> None:
        """Leave nothing behind: the rows are in the job's own file."""
        with suppress(OSError, StorageError):
            self._table.close()
        self._part.unlink(missing_ok=True)
