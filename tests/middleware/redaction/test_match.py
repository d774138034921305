from __future__ import annotations

from typing import Any

import pytest

from interlock.middleware.redaction.match import checked_matches, join_spans, replace_spans
from interlock.state.guardrail_errors import DetectorError


def test_overlapping_spans_are_joined() -> None:
    assert join_spans([(5, 9), (0, 3), (2, 4), (4, 5)]) == [(0, 4), (4, 5), (5, 9)]


def test_foreign_matches_are_completed_sorted_and_joined() -> None:
    found = [{"start": 4, "end": 6, "text": "ef"}, {"start": 0, "end": 2}, {"start": 1, "end": 3}]

    assert checked_matches("x", "abcdefg", found) == [
        {"type": "x", "value": "abc", "start": 0, "end": 3},
        {"type": "x", "value": "ef", "start": 4, "end": 6},
    ]


@pytest.mark.parametrize(
    "found",
    [
        None,
        "text",
        {"start": 0, "end": 1},
        [(0, 1)],
        [{"start": 0}],
        [{"start": -1, "end": 1}],
        [{"start": 2, "end": 2}],
        [{"start": 0, "end": 99}],
        [{"start": "0", "end": "1"}],
    ],
)
def test_unusable_answer_of_a_detector_lets_nothing_pass(found: Any) -> None:
    with pytest.raises(DetectorError, match="'x'"):
        checked_matches("x", "abcdefg", found)


def test_what_is_around_matches_stays() -> None:
    matches = checked_matches("x", "abcdef", [{"start": 1, "end": 2}, {"start": 4, "end": 6}])

    assert replace_spans("abcdef", matches, lambda m: m["value"].upper()) == "aBcdEF"
