"""How far a job is: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Protocol, TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from ...extraction import Totals

_EVERY_S = 5.0
"""Seconds between two lines."""


class ShowsProgress(Protocol):
    """Shows totals."""

    def update(self, totals: Totals) -> None:
        """Show that something was done."""
        ...

    def close(self) -> None:
        """Leave the screen as it should stay."""
        ...


def status(totals: Totals, elapsed_s: float, records: int | None) -> str:
    """Tell how far a job is: records, rate, time left, failures, tokens.

    Args:
        totals: What is done.
        elapsed_s: Seconds since this run began.
        records: All records of the job, where that is known.
    """
    done = f"{totals.finished:,}" + (f"/{records:,}" if records is not None else "")
    parts = [done, f"{totals.per_second(elapsed_s):.1f}/s"]
    left = None if records is None else totals.seconds_left(elapsed_s, records)
    if left is not None:
        parts.append(f"ETA {timedelta(seconds=round(left))}")
    parts.append(f"failures {totals.rejected:,}")
    parts.append(f"tokens {totals.usage.get('total_tokens', 0):,}")
    return "  ".join(parts)


def shown_on(
    stream: TextIO, records: int | None, clock: Callable[[], float] = time.monotonic
) -> ShowsProgress:
    """Choose what fits the stream."""
    if stream.isatty():
        return Bar(stream, records, clock)
    return Lines(stream, records, clock)


class Bar:
    """A bar that is drawn over itself."""

    def __init__(
        self, stream: TextIO, records: int | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._records, self._clock, self._began = records, clock, clock()
        self._progress = Progress(
            BarColumn(),
            TextColumn("{task.description}", markup=False),
            console=Console(file=stream),
        )
        self._task = self._progress.add_task(status(Totals(), 0, records), total=records)
        self._progress.start()

    def update(self, totals: Totals) -> None:
        """See ``ShowsProgress``."""
        text = status(totals, self._clock() - self._began, self._records)
        self._progress.update(self._task, completed=totals.finished, description=text)

    def close(self) -> None:
        """See ``ShowsProgress``."""
        self._progress.stop()


class Lines:
    """A plain line every few seconds, for logs and pipes."""

    def __init__(
        self, stream: TextIO, records: int | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream, self._records, self._clock = stream, records, clock
        self._began = self._last = clock()

    def update(self, totals: Totals) -> None:
        """See ``ShowsProgress``."""
        now = self._clock()
        if now - self._last >= _EVERY_S:
            self._last = now
            self._stream.write(status(totals, now - self._began, self._records) + "\n")
            self._stream.flush()

    def close(self) -> None:
        """See ``ShowsProgress``."""
