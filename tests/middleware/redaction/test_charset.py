from __future__ import annotations

import importlib
import re
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.middleware.redaction.charset import characters_of

ITEMS = [
    *("a", "é", ".", "[^k]", r"[^\u017f]", "[s-ж]", r"[\d♥]", r"[^\w-]", r"\W", r"\S", r"[^\D]"),
    *(r"[İ-\u0131]", "[\N{KELVIN SIGN}]", "😀", "[^😀]"),
    "[\U000f0000-\U00100000]",
    "[^\U000f0000]",
]


@given(st.sampled_from(ITEMS), st.sampled_from("aimsims"), st.characters())
def test_set_holds_every_character_that_the_item_matches(item: str, flag: str, char: str) -> None:
    assert _holds(f"(?{flag})", item, char) or re.fullmatch(f"(?{flag}){item}", char) is None


@pytest.mark.parametrize(
    ("item", "outside"),
    [
        ("a", "Ab"),
        (".", "\n"),
        (r"\d", "aж "),
        (r"[^a\s]", "a \xa0"),
        ("[д-ж]", "яa"),
        (r"\W", "ж1"),
    ],
)
def test_set_holds_little_else(item: str, outside: str) -> None:
    assert not any(_holds("", item, char) for char in outside)


def test_no_class_reaches_beyond_the_characters_looked_at() -> None:
    beyond = "".join(map(chr, range(0x40000, sys.maxunicode + 1)))

    assert re.search(r"[\w\d\s]", beyond) is None


def _holds(flags: str, item: str, char: str) -> bool:
    parsed: Any = importlib.import_module("re._parser").parse(flags + item)
    op, argument = next(iter(parsed))
    chars = characters_of(str(op), argument, re.compile(flags + item).flags)
    return bool(chars >> min(ord(char), 0x40000) & 1)
