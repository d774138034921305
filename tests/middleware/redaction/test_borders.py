"""Sensitive data that lies across the borders of content blocks."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage

from interlock.middleware.redaction import RedactionRule, Redactor
from interlock.middleware.redaction.borders import change_across

EMAIL = Redactor([RedactionRule("email").resolve()])
TEXT = "Ask kim@example.com, or in turn lee.long@mail.example.org about it. "


def blocks(*texts: str) -> list[Any]:
    return [{"type": "text", "text": text} for text in texts]


@given(st.lists(st.integers(0, len(TEXT)), max_size=8))
def test_text_is_redacted_wherever_blocks_cut_it(cuts: list[int]) -> None:
    ends = sorted({0, len(TEXT), *cuts})
    parts = [TEXT[a:b] for a, b in pairwise(ends)]

    new = change_across([EMAIL.redact(part) for part in parts], EMAIL.redact)

    assert len(new) == len(parts)
    joined = "".join(new)
    assert "@" not in joined
    assert "example" not in joined
    # What stands before a border may stay, where an address behind it is one without it.
    assert "kim" not in joined
    assert joined.endswith(" about it. ")


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["to alice@exam", "ple.com, bob"], ["to [R]", ", bob"]),
        (["a", "to alice@exam", "ple.com!", "b"], ["a", "to [R]", "!", "b"]),
        (["alice@exam", "ple.com"], ["[R]", ""]),
        (["a@b.co", "Thanks"], ["[R]", "Thanks"]),
        (["x", "y"], ["x", "y"]),
    ],
)
def test_only_what_lies_across_a_border_changes_its_texts(
    texts: Sequence[str], expected: Sequence[str]
) -> None:
    change: Callable[[str], str] = lambda t: EMAIL.redact(t).replace("[REDACTED_EMAIL]", "[R]")  # noqa: E731

    assert change_across([change(text) for text in texts], change) == expected


def test_blocks_of_a_message_are_read_as_one() -> None:
    picture = {"type": "image", "base64": "aGk="}
    content: list[Any] = ["alice@exam", picture, *blocks("ple", ".com")]

    new = EMAIL.message(HumanMessage(content))

    assert new.content == ["[REDACTED_EMAIL]", picture]
    assert EMAIL.message(new) is new


def test_blocks_keep_what_else_they_hold() -> None:
    marked = {"type": "text", "text": "ple.com then", "cache_control": {"type": "ephemeral"}}

    new = EMAIL.message(HumanMessage([*blocks("alice@exam"), marked]))

    assert new.content == [*blocks("[REDACTED_EMAIL]"), {**marked, "text": " then"}]


def test_many_small_blocks_cost_their_length() -> None:
    def seconds(size: int) -> float:
        content: list[Any] = blocks(*("a@" * (size // 2)), "b.co")
        began = time.thread_time()
        EMAIL.message(HumanMessage(content))
        return time.thread_time() - began

    assert any(seconds(40_000) < 9 * seconds(10_000) + 0.05 for _ in range(3))
