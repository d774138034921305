"""Where a job keeps what is done: a job file, its own output, or nowhere."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from ...state.errors import ConfigurationError
from .job_store import JobStore
from .record import Record
from .result import Extraction
from .result_file import ResultFile

_LINES = frozenset({".jsonl", ".ndjson"})
_OUTPUTS = frozenset({".csv", ".json", ".parquet", ".tsv", ".txt"})


class Journal(Protocol):
    """Knows which records are done. Threads may share it."""

    def find(self, record: Record) -> Extraction[Any] | None:
        """Give the result of a record that is done, without its value, or None."""
        ...

    def add(self, result: Extraction[Any]) -> None:
        """Keep a result: it is on disk when this returns."""
        ...

    def close(self) -> None:
        """Let the files go."""
        ...


class FileJournal:
    """A file of results, and one of rejects, which may be the same."""

    def __init__(self, results: ResultFile | JobStore | None, rejects: ResultFile | None) -> None:
        """Join files that are open."""
        self._results, self._rejects = results, rejects

    def find(self, record: Record) -> Extraction[Any] | None:
        """See ``Journal``."""
        found = self._results.find(record) if self._results is not None else None
        if self._rejects is None or self._results is None:
            return found
        if found is None:
            return self._rejects.find(record) if isinstance(self._results, ResultFile) else None
        if found.rejected:
            # A crash may have come between the job file and the file of rejects.
            self._rejects.add(found)
        return found

    def add(self, result: Extraction[Any]) -> None:
        """See ``Journal``."""
        if self._results is not None and not self._is_apart(result):
            self._results.add(result)
        if self._rejects is not None and result.rejected:
            self._rejects.add(result)

    def close(self) -> None:
        """See ``Journal``."""
        for file in (self._results, self._rejects):
            if file is not None:
                file.close()

    def _is_apart(self, result: Extraction[Any]) -> bool:
        """Whether a result goes to the rejects only: an output holds none where they have a file."""
        apart = self._rejects is not None and isinstance(self._results, ResultFile)
        return apart and result.rejected


def open_journal(
    resume: str | Path | None, rejects: str | Path | None, settings: Mapping[str, Any]
) -> Journal | None:
    """Open the files of a job, or begin them; None where it has none.

    Args:
        resume: An output of JSON lines (``.jsonl``, ``.ndjson``), or a job file of any other name.
        rejects: A file of JSON lines for rejected records.
        settings: What the results depend on, as JSON values.

    Raises:
        StorageError: A file is in use, or cannot be read and written.
        InvalidInputError: The job was begun with other settings.
    """
    if resume is None and rejects is None:
        return None
    results: ResultFile | JobStore | None = None
    if resume is not None:
        is_output = Path(resume).suffix in _LINES
        results = ResultFile(resume, settings) if is_output else JobStore(resume, settings)
    try:
        return FileJournal(results, None if rejects is None else ResultFile(rejects, settings))
    except BaseException:
        if results is not None:
            results.close()
        raise


def check_files(resume: object, rejects: object) -> None:
    """Refuse names of files that a job cannot be kept in.

    Raises:
        ConfigurationError: One is no path, cannot be gone on with, or both are the same.
    """
    for name, path in (("resume", resume), ("rejects", rejects)):
        if path is not None and not isinstance(path, str | Path):
            msg = f"{name} is {path!r}; give the path of a file."
            raise ConfigurationError(msg)
    if resume is not None and Path(str(resume)).suffix in _OUTPUTS:
        msg = f"A job cannot be gone on with from {str(resume)!r}; give a .jsonl or .sqlite file."
        raise ConfigurationError(msg)
    if resume is not None and rejects is not None and Path(str(resume)) == Path(str(rejects)):
        msg = f"resume and rejects are both {str(resume)!r}; leave rejects out to have one file."
        raise ConfigurationError(msg)
