"""What a search may take and how it answers: a time limit, a bounded answer, and notes on both."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, TypeVar

OutputMode = Literal["files_with_matches", "content", "count"]

MOST_LINES = 1_000
"""Lines of an answer."""
_LONGEST_LINE = 500
T = TypeVar("T")


class SearchAnswer:
    """One search with its deadline.

    Args:
        time_limit_s: Longest search, in seconds.
        clock: Tells the time in seconds.
    """

    def __init__(self, time_limit_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = time_limit_s
        self._clock = clock
        self._deadline = clock() + time_limit_s
        self._late = False

    def seconds_left(self) -> float:
        """The time until the search has to end; 0 if that is over."""
        return max(0.0, self._deadline - self._clock())

    def is_late(self) -> bool:
        """Whether the time is over."""
        self._late = self._late or self._clock() > self._deadline
        return self._late

    def until_late(self, items: Iterator[T]) -> Iterator[T]:
        """The items, up to the time limit."""
        for item in items:
            if self.is_late():
                return
            yield item

    def report(self, lines: Sequence[str], nothing: str, *, more: bool = False) -> str:
        """The answer for the model.

        Args:
            lines: What was found, at most ``MOST_LINES``.
            nothing: What to say if that is nothing.
            more: There is more than that.
        """
        shown = [line[:_LONGEST_LINE] for line in lines] or [nothing]
        if more:
            shown.append(f"[more than {MOST_LINES}; narrow the search]")
        if self._late:
            shown.append(f"[stopped after {self._limit:g} s; the search is not complete]")
        return "\n".join(shown)


class Matches:
    """The lines that fit, as many as an answer shows and no more.

    Args:
        mode: What is asked for: the files, their lines, or how many lines.
    """

    def __init__(self, mode: OutputMode) -> None:
        self.mode = mode
        self.more = False
        """There are more than an answer shows, so the search can end."""
        self._counts: dict[str, int] = {}
        self._lines: list[tuple[str, int, str]] = []

    @property
    def most_in_file(self) -> int | None:
        """How many matches of one file are of use; None for all."""
        return {"files_with_matches": 1, "content": MOST_LINES + 1}.get(self.mode)

    def add(self, path: str, number: int, line: str) -> None:
        """Take a line that fits, if there is room for it."""
        if self.mode == "content":
            self.more = self.more or len(self._lines) >= MOST_LINES
            if not self.more:
                self._lines.append((path, number, line[:_LONGEST_LINE]))
            return
        self.more = self.more or (path not in self._counts and len(self._counts) >= MOST_LINES)
        if not self.more:
            self._counts[path] = self._counts.get(path, 0) + 1

    def lines(self) -> list[str]:
        """The lines of the answer, by path."""
        if self.mode == "content":
            return [f"{path}:{number}:{line}" for path, number, line in sorted(self._lines)]
        if self.mode == "count":
            return [f"{path}:{count}" for path, count in sorted(self._counts.items())]
        return sorted(self._counts)
