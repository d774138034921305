"""A user's regular expression as a detector whose time is bounded."""

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


def pattern_detector(
    pii_type: str,
    pattern: str,
    *,
    time_limit_s: float = TIME_LIMIT_S,
    clock: Callable[[], float] = time.monotonic,
) -> Detector:
    """A detector that reports every match of a regular expression.

    A pattern with a repetition of open length searches longer texts in overlapping windows: of a
    match longer than half a window (2,048 characters, or 128 for a pattern in which repetitions
    follow one another) parts may be reported one by one, or not at all.

    Raises:
        ConfigurationError: The pattern is not valid, or can take too long on some text.
    """
    spans = bounded_finder(pattern, time_limit_s=time_limit_s, clock=clock)

    def detect(text: str) -> list[PIIMatch]:
        return matches_of(pii_type, text, spans(text))

    return detect


def bounded_finder(
    pattern: str,
    *,
    time_limit_s: float = TIME_LIMIT_S,
    clock: Callable[[], float] = time.monotonic,
) -> Callable[[str], Iterator[Span]]:
    """A function that gives the spans of a pattern's matches, in bounded time.

    Its spans may repeat and overlap. It raises ``DetectorError`` when the time is over.

    Raises:
        ConfigurationError: The pattern is not valid, or can take too long on some text.
    """
    length = chain_length(pattern)
    if length and length not in _WINDOWS:
        msg = (
            f"Pattern {pattern!r} has {length} repetitions in a row that overlap, so hostile text "
            "can make it run for minutes; put something fixed between them, or bound them."
        )
        raise ConfigurationError(msg)
    compiled = re.compile(pattern)
    size = _WINDOWS.get(length)

    def find(text: str) -> Iterator[Span]:
        deadline = clock() + time_limit_s
        for start, end in _windows(len(text), size):
            if clock() > deadline:
                msg = (
                    f"Pattern {pattern!r} took longer than {time_limit_s} s on a text of "
                    f"{len(text)} characters, so the text may not pass; simplify the pattern."
                )
                raise DetectorError(msg)
            for match in compiled.finditer(text, start, end):
                if match.end() > match.start():
                    yield match.span()

    return find


def _windows(length: int, size: int | None) -> Iterator[Span]:
    if size is None or length <= size:
        yield 0, length
        return
    for start in range(0, length - size // 2, size // 2):
        yield start, min(start + size, length)
