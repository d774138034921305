"""Ranking texts by the words of a query."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.tools.keyword_search import rank, words_of

TEXTS = [
    "send_mail Send a mail to a person.",
    "book_flight Book a flight.",
    "cancel_flight Cancel a booked flight of a person.",
    "getWeather Tell the weather in a city.",
]


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("cancel flight", 2),
        ("FLIGHTS", 1),
        ("what is the weather", 3),
        ("mail", 0),
        ("get", 3),
    ],
)
def test_the_best_text_comes_first(query: str, best: int) -> None:
    assert rank(query, TEXTS, 4)[0] == best


def test_a_text_without_a_word_of_the_query_is_not_found() -> None:
    assert rank("invoice", TEXTS, 4) == []
    assert rank("flight", TEXTS, 4) == [1, 2]


def test_no_more_than_the_limit_are_found() -> None:
    assert rank("a flight", TEXTS, 1) == [1]


@pytest.mark.parametrize("query", ["", "  ", "?!", "_"])
def test_a_query_without_words_finds_nothing(query: str) -> None:
    assert rank(query, TEXTS, 4) == []


def test_there_may_be_nothing_to_search() -> None:
    assert rank("flight", [], 3) == []
    assert rank("flight", ["", ""], 3) == []


def test_words_of_any_script_are_found() -> None:
    assert rank("погода", ["курс валют", "Погода в городе"], 2) == [1]


def test_a_rare_word_tells_more_than_a_common_one() -> None:
    assert rank("person mail", [*TEXTS, "person person"], 5)[0] == 0


@settings(max_examples=50)
@given(st.lists(st.text(), max_size=6), st.text(), st.integers(1, 6))
def test_only_texts_that_share_a_word_are_found(texts: list[str], query: str, limit: int) -> None:
    found = rank(query, texts, limit)
    sharing = [n for n, t in enumerate(texts) if set(words_of(t)) & set(words_of(query))]
    assert len(found) == min(limit, len(sharing))
    assert set(found) <= set(sharing)
