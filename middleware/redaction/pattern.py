"""A user's regular expression, searched for in bounded time."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator

from ...state.errors import ConfigurationError
from ...state.guardrail_errors import DetectorError
from .backtracking import chain_length
from .match import Detector, PIIMatch, Span, matches_of

TIME_LIMIT_S = 2.0
"""Seconds that a pattern may search one text."""

_WINDOWS = {1: 4_096, 2: 256}
"""Characters searched at once, by the length of the pattern's chain of repetitions: what one
window costs at the worst stays below a tenth of a second."""


class BoundedPattern:
    """A regular expression that finds its matches in bounded time, whatever the text.

    A pattern with a repetition of open length searches longer texts in overlapping windows: of a
    match longer than half a window (2,048 characters, or 128 for a pattern in which repetitions
    follow one another) parts may be found one by one, or not at all.

    Args:
        pattern: The regular expression.
        clock: Tells the time in seconds.

    Raises:
        ConfigurationError: The pattern is not valid, or can take too long on some text.
    """

    def __init__(self, pattern: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        length = chain_length(pattern)
        if length and length not in _WINDOWS:
            msg = (
                f"Pattern {pattern!r} has {length} repetitions in a row that overlap, so hostile "
                "text can make it run for minutes; put something fixed between them, or bound them."
            )
            raise ConfigurationError(msg)
        self.pattern = pattern
        self._compiled = re.compile(pattern)
        self._window = _WINDOWS.get(length)
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


def _windows(length: int, size: int | None) -> Iterator[Span]:
    if size is None or length <= size:
        yield 0, length
        return
    for start in range(0, length - size // 2, size // 2):
        yield start, min(start + size, length)
