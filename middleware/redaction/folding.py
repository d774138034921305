"""Text as a reader sees it: look-alike digits and letters made plain, invisible ones left out."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from functools import cache

from .match import Detector, PIIMatch, Span, matches_of


class _Table(dict[int, str | None]):
    """What each character becomes, found out when it is first met."""

    def __missing__(self, code: int) -> str | None:
        self[code] = folded = _fold(chr(code))
        return folded


def _fold(character: str) -> str | None:
    if character.isascii():
        return character
    category = unicodedata.category(character)
    if category == "Cf" or 0xFE00 <= ord(character) <= 0xFE0F:  # noqa: PLR2004 - variation selectors
        return None
    if category == "Nd":
        return str(unicodedata.digit(character))
    if category == "Zs":
        return " "
    if category == "Pd" or character == "\u2212":
        return "-"
    return unicodedata.normalize("NFKC", character)


@cache
def _table() -> _Table:
    return _Table()


def fold(text: str) -> tuple[str, list[int] | None]:
    """The folded text, and for each of its characters the position of the original one.

    Positions are None where they are the same in both.
    """
    if text.isascii():
        return text, None
    table = _table()
    folded = text.translate(table)
    # A removed and an added character can make up for each other, so the length says nothing
    # unless no character changes its length at all.
    if len(folded) == len(text) and all(len(table[ord(c)] or "") == 1 for c in set(text)):
        return folded, None
    positions = [n for n, c in enumerate(text) for _ in table[ord(c)] or ""]
    return folded, positions


def folding_detector(pii_type: str, find: Callable[[str], Iterable[Span]]) -> Detector:
    """A detector that searches the folded text and reports positions in the original one."""

    def detect(text: str) -> list[PIIMatch]:
        folded, positions = fold(text)
        spans = find(folded)
        if positions is not None:
            spans = [(positions[start], positions[end - 1] + 1) for start, end in spans]
        return matches_of(pii_type, text, spans)

    detect.__name__ = detect.__qualname__ = f"detect_{pii_type}"
    return detect
