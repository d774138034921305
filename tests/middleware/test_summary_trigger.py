from __future__ import annotations

from typing import Any

import pytest

from interlock.middleware.summary_trigger import (
    checked_size,
    copied_trigger,
    is_met,
    tokens_of,
    trigger_clauses,
)
from interlock.state.errors import ConfigurationError


@pytest.mark.parametrize(
    ("trigger", "clauses"),
    [
        (None, []),
        ([], []),
        (("tokens", 5), [{"tokens": 5}]),
        ({"tokens": 5, "messages": 2}, [{"tokens": 5, "messages": 2}]),
        ([("messages", 3), {"fraction": 0.5}], [{"messages": 3}, {"fraction": 0.5}]),
    ],
)
def test_every_form_becomes_clauses(trigger: Any, clauses: Any) -> None:
    assert trigger_clauses(trigger) == clauses


@pytest.mark.parametrize(
    ("trigger", "words"),
    [
        ({}, "empty"),
        ([{"tokens": 1}, {}], "empty"),
        ({"words": 3}, "words"),
        ({"tokens": 0}, "greater than 0"),
        ({"tokens": 1.5}, "integers"),
        ({"messages": "10"}, "integers"),
        ({"messages": True}, "numeric"),
        (("messages", True), "numeric"),
        ({"fraction": "half"}, "numeric"),
        (("fraction", float("nan")), "between 0 and 1"),
        (("fraction", 1.1), "between 0 and 1"),
        (("lines", 3), "lines"),
        (("tokens",), "pair"),
    ],
)
def test_wrong_threshold_is_refused(trigger: Any, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        trigger_clauses(trigger)


@pytest.mark.parametrize("trigger", ["tokens", 5, ["tokens"]])
def test_other_types_are_refused_by_type(trigger: Any) -> None:
    with pytest.raises(TypeError, match="trigger"):
        trigger_clauses(trigger)


def test_size_must_be_a_pair() -> None:
    assert checked_size(("tokens", 5), "keep") == ("tokens", 5)
    with pytest.raises(ConfigurationError, match="keep is 5"):
        checked_size(5, "keep")


@pytest.mark.parametrize(
    ("clause", "met"),
    [
        ({"messages": 10}, True),
        ({"messages": 11}, False),
        ({"tokens": 500}, True),
        ({"tokens": 501}, False),
        ({"fraction": 0.5}, True),
        ({"fraction": 0.6}, False),
        ({"messages": 10, "tokens": 501}, False),
        ({"messages": 10, "tokens": 500}, True),
    ],
)
def test_clause_is_met_when_all_its_thresholds_are(clause: Any, met: bool) -> None:
    assert is_met([clause], 10, 500, 1000) is met
    assert is_met([{"tokens": 9999}, clause], 10, 500, 1000) is met


def test_fraction_of_an_unknown_window_is_never_reached() -> None:
    assert not is_met([{"fraction": 0.1}], 10, 10**9, None)
    assert tokens_of(("fraction", 0.1), None) is None


def test_fraction_is_at_least_one_token() -> None:
    assert tokens_of(("fraction", 0.0001), 1000) == 1
    assert tokens_of(("tokens", 7), None) == 7
    assert tokens_of(("messages", 7), 1000) is None


def test_copy_does_not_follow_its_original() -> None:
    clause = {"tokens": 5}
    trigger = [clause, ("messages", 3)]
    copy = copied_trigger(trigger)
    clause["tokens"] = 6
    trigger.clear()

    assert copy == [{"tokens": 5}, ("messages", 3)]
