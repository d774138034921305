"""Sets of characters as numbers: bit ``c`` stands for the character of code point ``c``.

Above U+3FFFF no digit, space or letter is assigned. What lies there shares one bit, which a set
has as soon as one such character may be in it: sets are never too small.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

_LAST = 0x40000
EVERYTHING = (1 << (_LAST + 1)) - 1
_BEYOND = 1 << _LAST
_ASCII = (1 << 128) - 1
_LETTERS = (1 << 26) - 1
_NEWLINE = 1 << ord("\n")
_NOT_ASCII_ALONE = sum(1 << ord(c) for c in "iIkKsS")
"""ASCII letters that have a form outside of ASCII."""


def characters_of(op: str, argument: Any, flags: int) -> int:
    """The characters that one item of a parsed pattern matches, or more, but never fewer.

    Args:
        op: ``ANY``, ``LITERAL``, ``NOT_LITERAL`` or ``IN``, as Python's parser names them.
        argument: What the parser gives with it.
        flags: The flags of ``re`` that hold here.
    """
    if op == "ANY":
        return EVERYTHING if flags & re.DOTALL else EVERYTHING ^ _NEWLINE
    if op == "LITERAL":
        return _cased(_span(argument, argument), flags)
    if op == "NOT_LITERAL":
        return _without(_span(argument, argument), flags)
    plain = classes = 0
    negated = False
    for kind, value in argument:
        if str(kind) == "NEGATE":
            negated = True
        elif str(kind) == "CATEGORY":
            classes |= _category(str(value), ascii_only=bool(flags & re.ASCII))
        else:
            low, high = value if str(kind) == "RANGE" else (value, value)
            plain |= _span(low, high)
    return _without(plain, flags) & ~classes if negated else _cased(plain, flags) | classes


def _span(low: int, high: int) -> int:
    low, high = min(low, _LAST), min(high, _LAST)
    return ((1 << (high - low + 1)) - 1) << low


def _without(plain: int, flags: int) -> int:
    """Everything but these characters, of which the shared bit may stand for others too."""
    sure = _cased(plain & _ASCII, flags) & _ASCII if flags & re.IGNORECASE else 0
    return EVERYTHING & ~((plain | sure) & ~_BEYOND)


def _cased(plain: int, flags: int) -> int:
    """These characters in both cases, where case is ignored."""
    if not flags & re.IGNORECASE:
        return plain
    letters = (plain >> ord("A") | plain >> ord("a")) & _LETTERS
    both = plain | letters << ord("A") | letters << ord("a")
    foreign = both & ~_ASCII
    if foreign:
        both |= _NOT_ASCII_ALONE
    if foreign or both & _NOT_ASCII_ALONE:
        both |= _not_ascii_cased()
    return both


@lru_cache(maxsize=1)
def _not_ascii_cased() -> int:
    """The characters outside of ASCII that may have another case: no spaces, no digits."""
    uncased = _category("CATEGORY_SPACE", ascii_only=False) | _category(
        "CATEGORY_DIGIT", ascii_only=False
    )
    return EVERYTHING & ~_ASCII & ~uncased


@lru_cache(maxsize=16)
def _category(name: str, *, ascii_only: bool) -> int:
    kind = name.removeprefix("CATEGORY_").removeprefix("NOT_")
    letter = {"DIGIT": r"\d+", "SPACE": r"\s+", "WORD": r"\w+"}[kind]
    found = _runs(re.compile(letter, re.ASCII if ascii_only else 0).finditer(_text()))
    return EVERYTHING & ~found if name.startswith("CATEGORY_NOT_") else found


def _runs(matches: Iterable[re.Match[str]]) -> int:
    found = 0
    for match in matches:
        found |= _span(match.start(), match.end() - 1)
    return found


@lru_cache(maxsize=1)
def _text() -> str:
    """Every character below the shared bit, each at the place of its code point."""
    return "".join(map(chr, range(_LAST)))
