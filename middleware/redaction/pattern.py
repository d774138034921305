"""A user's regular expression, searched for in bounded time."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator

from ...state.guardrail_errors import DetectorError
from .backtracking import search_window
from .match import Detector, PIIMatch, Span, matches_of

TIME_LIMIT_S = 2.0
"""Seconds that a pattern may search one text."""


class BoundedPattern:
    """A regular expression that finds its matches in bounded time, whatever the text.

    Long texts are searched in overlapping windows, so small that hostile text can hold up the
    search of one for a fraction of a second only. Of a match longer than half a window parts may
    be found one by one, or not at all: 524,288 characters for a pattern of bounded length, about
    2,000 for one with open repetitions, 128 where these can share their characters.

    Args:
        pattern: The regular expression.
        clock: Tells the time in seconds.

    Raises:
        ConfigurationError: The pattern is not valid, or can take too long on some text.
    """

    def __init__(self, pattern: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._window = search_window(pattern)
        self.pattern = pattern
        self._compiled = re.compile(pattern)
        self._clock = clock

    def spans(self, text: str, time_limit_s: float = TIME_LIMIT_S) -> Iterator[Span]:
        """Spans of the matches; they may repeat and overlap. Empty ones are left out.

        Raises:
            DetectorError: The time is over.
        """
        deadline = self._clock() + time_limit_s
        for start, end in _windows(len(text), self._window):
            if self._clock() > deadline:
                msg = (
                    f"Pattern {self.pattern!r} took longer than {time_limit_s} s on a text of "
                    f"{len(text)} characters, so the text may not pass; simplify the pattern."
                )
                raise DetectorError(msg)
            for match in self._compiled.finditer(text, start, end):
                if match.end() > match.start():
                    yield match.span()

    def occurs_in(self, text: str, is_late: Callable[[], bool] = lambda: False) -> bool:
        """Whether there is a match, an empty one included; none is found once it is late."""
        for start, end in _windows(len(text), self._window):
            if is_late():
                return False
            if self._compiled.search(text, start, end):
                return True
        return False


def pattern_detector(
    pii_type: str, pattern: str, *, time_limit_s: float = TIME_LIMIT_S
) -> Detector:
    """A detector that reports every match of a regular expression, see :class:`BoundedPattern`.

    Raises:
        ConfigurationError: The pattern is not valid, or can take too long on some text.
    """
    bounded = BoundedPattern(pattern)

    def detect(text: str) -> list[PIIMatch]:
        return matches_of(pii_type, text, bounded.spans(text, time_limit_s))

    return detect


def _windows(length: int, size: int) -> Iterator[Span]:
    if length <= size:
        yield 0, length
        return
    for start in range(0, length - size // 2, size // 2):
        yield start, min(start + size, length)
