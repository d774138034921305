"""A job: its records worked on side by side, each done once, its results given as they come."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from ...middleware.flows import adrive, drive
from ...state.errors import InvalidInputError
from ...state.structured_errors import SchemaMismatchError
from ...tools.calls import Calls, Dual, Job
from .journal import Journal, open_journal
from .keeping import kept_or_rejected
from .record import Record, Row, read_records
from .record_flow import Extractor, extract_record
from .result import Extraction
from .totals import Totals
from .window import Window

_AHEAD = 32
"""How many times the concurrency a record may be ahead of the first unfinished one: few enough
for memory, and enough that a record which waits a second for its retry does not stop the others."""


@dataclass
class ExtractionJob:
    """One pass over the records; see ``extract``."""

    extractor: Extractor
    inputs: Iterable[Row]
    settings: Mapping[str, Any]
    """As ``checked_settings`` gives them."""
    depends_on: Mapping[str, Any]
    """What the results depend on: a job is gone on with only if it is the same."""
    close: Dual | None = None
    """Called at the end, for a model that the job alone uses."""
    totals: Totals = field(default_factory=Totals)
    _failure: Exception | None = None
    """What ends the job. What runs then is still finished and kept."""

    async def run(self, calls: Calls) -> AsyncGenerator[Extraction[Any], None]:
        """Give the results, rejected ones only where they have no place of their own.

        Raises:
            InterlockError: A file cannot be used, or the input is not the one begun with.
            Exception: One that every record would meet, or that the input raised.
        """
        rejects: Any = self.settings["rejects"]
        file = None if callable(rejects) else rejects
        journal = open_journal(self.settings["resume"], file, self.depends_on)
        try:
            async with aclosing(self._finished(calls, journal)) as results:
                async for result in results:
                    if not result.rejected or rejects is None:
                        yield result
                    elif callable(rejects):
                        rejects(result)
        finally:
            if journal is not None:
                journal.close()
            if self.close is not None:
                await calls.call(self.close)
        if self._failure is not None:
            raise self._failure

    async def _finished(
        self, calls: Calls, journal: Journal | None
    ) -> AsyncGenerator[Extraction[Any], None]:
        """Results of either kind, in the order that is wanted."""
        limit: int = self.settings["concurrency"]
        report: Callable[[Totals], object] | None = self.settings["on_progress"]
        window = Window[Extraction[Any]](limit * _AHEAD) if self.settings["ordered"] else None
        jobs = self._jobs(calls, journal, window)
        async with aclosing(calls.stream(jobs, limit)) as outcomes:
            async for outcome in outcomes:
                result = outcome.value
                if result is None:
                    self._failure = self._failure or outcome.error
                    continue
                self.totals.add(result, resumed=result.resumed)
                if report is not None:
                    report(self.totals)
                ready = window.finish(result.record.position, result) if window else [result]
                for one in ready:
                    yield one
        # After a failure some wait for a record that has no result.
        for one in window.rest() if window else ():
            yield one

    def _jobs(
        self, calls: Calls, journal: Journal | None, window: Window[Any] | None
    ) -> Iterator[Job[Extraction[Any]] | None]:
        """What is still to do, one record after the other."""
        try:
            for record in read_records(self.inputs, key=self.settings["key"]):
                while not self._failure and window and not window.may_start(record.position):
                    yield None
                if self._failure is not None:
                    return
                done = journal.find(record) if journal is not None else None
                if done is None:
                    yield partial(self._extract, record, calls, journal)
                else:
                    yield partial(self._resume, done)
        except Exception as error:  # noqa: BLE001 -- the user's input; raised when all is kept
            self._failure = self._failure or error

    async def _extract(
        self, record: Record, calls: Calls, journal: Journal | None
    ) -> Extraction[Any]:
        flow = extract_record(record, self.extractor)
        # Nothing but asks come from the flow, so it needs no handler.
        result = drive(flow) if calls.synchronous else await adrive(flow)
        if journal is None:
            return result
        result = kept_or_rejected(result)
        # Here, where a consumer that is slow or gone cannot lose it.
        journal.add(result)
        return result

    async def _resume(self, done: Extraction[Any]) -> Extraction[Any]:
        if done.rejected:
            return replace(done, resumed=True)
        specs = self.extractor.output.specs
        spec = next((s for s in specs if s.name == done.schema_name), specs[0])
        try:
            return replace(done, value=spec.validate(done.data), resumed=True)
        except SchemaMismatchError as error:
            key = done.record.key
            msg = f"The kept value of {key!r} does not fit the schema: {error}. Begin a new job."
            raise InvalidInputError(msg, key=key) from error
