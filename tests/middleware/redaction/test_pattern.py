from __future__ import annotations

from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.middleware.redaction.pattern import BoundedPattern, pattern_detector
from interlock.state.errors import ConfigurationError
from interlock.state.guardrail_errors import DetectorError


def test_matches_are_those_of_the_pattern() -> None:
    detect = pattern_detector("badge", r"B-\d{4}")

    assert detect("B-1234 and B-5678") == [
        {"type": "badge", "value": "B-1234", "start": 0, "end": 6},
        {"type": "badge", "value": "B-5678", "start": 11, "end": 17},
    ]


@given(st.integers(0, 9_000), st.integers(1, 40))
def test_match_is_found_whole_wherever_windows_begin(before: int, length: int) -> None:
    text = "." * before + "x" * length + "." * 500

    (match,) = pattern_detector("run", r"x+")(text)

    assert (match["start"], match["end"]) == (before, before + length)


def test_empty_matches_are_none() -> None:
    assert pattern_detector("maybe", r"x?")("yyxy") == [
        {"type": "maybe", "value": "x", "start": 2, "end": 3}
    ]


def test_search_that_takes_too_long_lets_nothing_pass() -> None:
    ticks = count()
    pattern = BoundedPattern(r"\w+!", clock=lambda: float(next(ticks)))

    with pytest.raises(DetectorError, match="longer than 5 s"):
        list(pattern.spans("word " * 10_000, 5))


def test_occurrence_is_told_however_long_the_text() -> None:
    pattern = BoundedPattern(r"x+!")

    assert pattern.occurs_in("." * 20_000 + "xx!")
    assert not pattern.occurs_in("." * 20_000 + "xx")
    assert BoundedPattern(r"^$").occurs_in("")


def test_long_chain_of_repetitions_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="for ever"):
        BoundedPattern(r".*.*.*x")
