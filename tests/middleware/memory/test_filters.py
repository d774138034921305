from __future__ import annotations

from typing import Any

import pytest

from interlock.middleware.memory.filters import read_filters
from interlock.state import InvalidInputError

TRIP = {"topic": "travel", "year": 2024, "place": {"country": "IT"}}


def where(field: str, operator: str, value: Any) -> dict[str, Any]:
    return {"field": field, "operator": operator, "value": value}


@pytest.mark.parametrize(
    ("filters", "fits"),
    [
        (None, True),
        ({}, True),
        ({"topic": "travel"}, True),
        ({"topic": "food"}, False),
        ({"topic": "travel", "year": {"$gte": 2020, "$lt": 2025}}, True),
        ({"topic": "travel", "year": {"$gt": 2024}}, False),
        ({"topic": {"$in": ["food", "travel"]}}, True),
        ({"topic": {"$nin": ["food", "travel"]}}, False),
        ({"place.country": "IT"}, True),
        ({"missing": {"$ne": 1}}, True),
        ({"topic": {"$gt": 3}}, False),
        (where("meta.topic", "==", "travel"), True),
        (where("year", "<=", 2023), False),
        (where("topic", "not in", ["food"]), True),
        ({"operator": "AND", "conditions": [{"topic": "travel"}, where("year", "!=", 1)]}, True),
        ({"operator": "OR", "conditions": [{"topic": "food"}, {"year": 2024}]}, True),
        ({"operator": "NOT", "conditions": [{"topic": "travel"}]}, False),
    ],
)
def test_conditions_on_metadata(filters: Any, fits: bool) -> None:
    assert read_filters(filters)(TRIP) is fits


@pytest.mark.parametrize(
    "filters",
    [
        "topic",
        ["topic"],
        {"topic": {"$regex": ".*"}},
        {"operator": "XOR", "conditions": []},
        {"operator": "AND"},
        {"operator": "AND", "conditions": ["x"]},
        {"topic": {"$in": "travel"}},
        {"operator": ["AND"], "conditions": []},
        {"operator": {}, "field": "topic", "value": "x"},
        {3: "x"},
        {"": "x"},
    ],
    ids=repr,
)
def test_what_is_no_condition_is_refused(filters: Any) -> None:
    with pytest.raises(InvalidInputError):
        read_filters(filters)


@pytest.mark.parametrize("key", ["user_id", "agent_id", "run_id", "meta.user_id"])
def test_the_scope_cannot_be_filtered_by(key: str) -> None:
    for filters in ({key: "bob"}, where(key, "!=", "ann")):
        with pytest.raises(InvalidInputError, match="scope"):
            read_filters({"operator": "OR", "conditions": [filters]})


def test_endless_nesting_is_refused() -> None:
    filters: dict[str, Any] = {"topic": "x"}
    for _ in range(2_000):
        filters = {"operator": "NOT", "conditions": [filters]}
    with pytest.raises(InvalidInputError):
        read_filters(filters)
