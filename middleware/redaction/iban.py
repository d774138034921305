"""International bank account numbers, checked by country, length and check digits."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .folding import folding_detector
from .match import Span

_COUNTRIES = {
    15: "NO",
    16: "BE",
    18: "DK FI FK FO GL NL SD",
    19: "MK SI",
    20: "AT BA EE KZ LT LU MN XK",
    21: "CH HR LI LV",
    22: "BG BH CR DE GB GE IE ME RS VA",
    23: "AE GI IL IQ OM SO TL",
    24: "AD CZ ES MD PK RO SA SE SK TN VG",
    25: "LY PT ST",
    26: "IS TR",
    27: "BI DJ FR GR IT MC MR SM",
    28: "AL AZ BY CY DO GT HN HU LB NI PL SV",
    29: "BR EG PS QA UA",
    30: "JO KW MU YE",
    31: "MT SC",
    32: "LC",
    33: "RU",
}
"""Countries by the length of their numbers. Source: SWIFT, IBAN Registry, release 99, 2024."""

_LENGTHS = {code: n for n, codes in _COUNTRIES.items() for code in codes.split()}

_START = re.compile(r"[A-Za-z]{2}(?=[ -]?\d[ -]?\d)")
_BODIES = {
    length: re.compile(rf"(?:[ .-]?[A-Za-z0-9]){{{length - 2}}}(?![A-Za-z0-9])")
    for length in _COUNTRIES
}
_SEPARATORS = str.maketrans("", "", " .-")
_VALUES = str.maketrans({chr(55 + n): str(n) for n in range(10, 36)})
_DIVISOR = 97


def find_ibans(text: str) -> Iterator[Span]:
    """Spans of the account numbers in a folded text."""
    at = 0
    while start := _START.search(text, at):
        end = _end(text, start.start())
        if end is not None:
            yield start.start(), end
        at = end if end is not None else start.start() + 1


def _end(text: str, start: int) -> int | None:
    """Where the account number that begins at ``start`` ends, if there is one."""
    length = _LENGTHS.get(text[start : start + 2].upper())
    if length is None:
        return None
    body = _BODIES[length].match(text, start + 2)
    if body is None:
        return None
    written = text[start : body.end()]
    return body.end() if has_valid_checksum(written.translate(_SEPARATORS)) else None


def has_valid_checksum(iban: str) -> bool:
    """Whether the check digits of an account number without separators are right.

    Source: ISO 7064, MOD 97-10, 2003.
    """
    turned = (iban[4:] + iban[:4]).upper()
    return int(turned.translate(_VALUES)) % _DIVISOR == 1


detect_iban = folding_detector("iban", find_ibans)
"""Matches of bank account numbers."""
