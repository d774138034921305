"""Addresses on the web, with or without scheme."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .folding import folding_detector
from .match import Span

_URL = re.compile(
    r"(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{1,30}+://[^\s<>\"`]++"
    r"|(?<![\w@.-])www\.[^\s<>\"`]++"
    r"|(?<![\w@.%-])(?:[^\W_][\w-]{0,62}+\.)++[^\W\d_]{2,63}+(?::\d{1,5})?[/?][^\s<>\"`]*+",
    re.IGNORECASE,
)
_CLOSED_BY = {")": "(", "]": "[", "}": "{"}
_PUNCTUATION = ".,;:!?'*_~|\\"


def find_urls(text: str) -> Iterator[Span]:
    """Spans of the addresses in a folded text."""
    for found in _URL.finditer(text):
        end = _trimmed(text, found.start(), found.end())
        if end > found.start():
            yield found.start(), end


def _trimmed(text: str, start: int, end: int) -> int:
    """The end without punctuation of the sentence and brackets that were opened before."""
    while end > start:
        last = text[end - 1]
        opener = _CLOSED_BY.get(last)
        # Brackets are counted near the end only: the work must not grow with the square.
        near = max(start, end - 2_000)
        unopened = opener is not None and text.count(opener, near, end) < text.count(
            last, near, end
        )
        if last not in _PUNCTUATION and not unopened:
            break
        end -= 1
    return end


detect_url = folding_detector("url", find_urls)
"""Matches of web addresses."""
