"""Numbers of payment cards, grouped in any usual way, checked by length, issuer and checksum."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate

from .folding import folding_detector
from .match import Span

_RUN = re.compile(r"\d(?:[ \t\n._/*:-]{0,3}\d){11,}+")
_GROUP = re.compile(r"\d+")
_DOUBLED = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)

_ISSUERS = (
    (re.compile(r"4"), frozenset({13, 16, 19})),
    (re.compile(r"5[1-5]|2(?:22[1-9]|2[3-9]|[3-6]|7[01]|720)"), frozenset({16})),
    (re.compile(r"3[47]"), frozenset({15})),
    (re.compile(r"6(?:011|4[4-9]|5)"), frozenset({16, 19})),
    (re.compile(r"3(?:0[0-5]|095|[689])"), frozenset({14, 15, 16, 17, 18, 19})),
    (re.compile(r"35(?:2[89]|[3-8])"), frozenset({16, 17, 18, 19})),
    (re.compile(r"62|81|60"), frozenset({16, 17, 18, 19})),
    (re.compile(r"5[0678]|6"), frozenset({12, 13, 14, 15, 16, 17, 18, 19})),
    (re.compile(r"220[0-4]|9792"), frozenset({16, 17, 18, 19})),
)
"""First digits and lengths: Visa, Mastercard, American Express, Discover, Diners, JCB, UnionPay
and RuPay, Maestro, Mir and Troy. Source: ISO/IEC 7812-1 and the issuers' published ranges, 2025."""

_STRICT = _ISSUERS[:4]
"""Issuers whose numbers are told apart well enough to be found in groups of any size."""

_SHORTEST = 12
_SMALL_GROUP = 3
_PREFIX = 6


def find_cards(text: str) -> Iterator[Span]:
    """Spans of the card numbers in a folded text."""
    for run in _RUN.finditer(text):
        yield from _in_run(text, [m.span() for m in _GROUP.finditer(text, *run.span())])


def _in_run(text: str, groups: list[Span]) -> Iterator[Span]:
    """Card numbers in a stretch of digits and separators: whole groups, one after the other."""
    digits = "".join(text[start:end] for start, end in groups)
    checks = Checksums([int(d) for d in digits])
    begins = [0, *accumulate(end - start for start, end in groups)]
    ends = {at: place for place, at in enumerate(begins[1:])}
    free = 0
    for first, at in enumerate(begins[:-1]):
        if first < free:
            continue
        for length in _lengths(digits[at : at + _PREFIX]):
            last = ends.get(at + length)
            if last is not None and checks.passes(at, at + length):
                written = groups[first : last + 1]
                if _is_plausible(text, written, digits[at : at + _PREFIX], length):
                    yield written[0][0], written[-1][1]
                    free = last + 1
                    break


class Checksums:
    """Tells for any part of a row of digits whether it ends with the right check digit.

    The sums up to each digit are known beforehand, so that each part costs the same.

    Source: ISO/IEC 7812-1, annex B (Luhn), 2017.
    """

    def __init__(self, digits: Sequence[int]) -> None:
        self._sums = [
            [0, *accumulate(d if n % 2 == parity else _DOUBLED[d] for n, d in enumerate(digits))]
            for parity in (0, 1)
        ]

    def passes(self, start: int, end: int) -> bool:
        """Whether the digits from ``start`` up to ``end`` do."""
        sums = self._sums[(end - 1) % 2]
        return (sums[end] - sums[start]) % 10 == 0


@lru_cache(maxsize=4096)
def _lengths(prefix: str) -> tuple[int, ...]:
    """How long a number with these first digits may be, the longest first."""
    lengths = {n for first, known in _ISSUERS if first.match(prefix) for n in known}
    return tuple(sorted(lengths, reverse=True))


def _is_plausible(text: str, groups: Sequence[Span], prefix: str, length: int) -> bool:
    """Whether a number is written as card numbers are, and is no fraction of another one."""
    if any(end - start < _SMALL_GROUP for start, end in groups[:-1]):
        return any(length in known and first.match(prefix) for first, known in _STRICT)
    start, end = groups[0]
    lone = end - start >= _SHORTEST
    return not (lone and text[start - 2 : start - 1].isdigit() and text[start - 1] == ".")


detect_credit_card = folding_detector("credit_card", find_cards)
"""Matches of card numbers."""
