"""Telephone numbers: international, North American, with a trunk zero, Chinese and Russian."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .folding import folding_detector
from .match import Span

_INTERNATIONAL = re.compile(
    r"(?<![\w+.])(?:\+|00)[ ]?[1-9](?:[ ().\-/]{0,3}+\d){6,14}(?![\w]|[.-]\d)"
)
_AMERICAN = re.compile(
    r"(?<![\w.+-])(?:1[-. ])?(?:\(\d{3}\)[-. ]?|\d{3}[-. ])\d{3}[-. ]\d{4}(?![\w]|[.-]\d)"
)
_TRUNK = re.compile(
    r"(?<![\w.+-])\(?0[1-9]\d{0,4}\)?[ /.-]\d{2,8}(?:[ .-]\d{2,8}){0,4}(?![\w]|[.-]\d)"
)
_CHINESE = re.compile(r"(?<![\w.+-])1[3-9]\d[ -]?\d{4}[ -]?\d{4}(?![\w]|[.-]\d)")
_RUSSIAN = re.compile(
    r"(?<![\w.+-])8[ -]?\(?[3489]\d{2}\)?[ -]?\d{3}[ -]?\d{2}[ -]?\d{2}(?![\w]|[.-]\d)"
)
_NAMED = re.compile(
    r"\b(?:phone|telephone|tel|mobile|cell|fax|whatsapp|sms|handy|telefon|тел(?:ефон)?|电话|手机)"
    r"[ ]?(?:number|no|nr|num|номер|号码)?[.:=# ]{0,3}(\(?\d(?:[ ().\-/]{0,3}+\d){6,14})(?!\d)",
    re.IGNORECASE,
)
_DATE = re.compile(r"\d{1,2}([./-])\d{1,2}\1(?:19|20)\d{2}")

_FEWEST, _MOST = 8, 15
_FEWEST_TRUNK = 9
"""Digits of a number. Source: ITU-T E.164, 2010, for the most."""


def find_phones(text: str) -> Iterator[Span]:
    """Spans of the telephone numbers in a folded text."""
    for pattern in (_AMERICAN, _CHINESE, _RUSSIAN):
        for found in pattern.finditer(text):
            yield found.span()
    for found in _INTERNATIONAL.finditer(text):
        if _FEWEST <= _digits(found[0]) <= _MOST + 2:
            yield found.span()
    for found in _TRUNK.finditer(text):
        if _FEWEST_TRUNK <= _digits(found[0]) <= _MOST and not _DATE.match(found[0]):
            yield found.span()
    for found in _NAMED.finditer(text):
        yield found.span(1)


def _digits(written: str) -> int:
    return sum(map(str.isdigit, written))


detect_phone = folding_detector("phone", find_phones)
"""Matches of telephone numbers."""
