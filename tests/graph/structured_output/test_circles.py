from __future__ import annotations

from typing import Any

import pytest

from interlock.graph.structured_output.circles import (
    children,
    contains_itself,
    definition,
    has_cycle,
)


def test_children_are_schemas_with_their_places() -> None:
    schema: dict[str, Any] = {
        "properties": {"a/b": {"type": "string"}},
        "anyOf": [{}],
        "items": {"const": {"items": {}}},
        "enum": [{"items": {}}],
        "additionalProperties": False,
    }

    assert [(keyword, place) for keyword, place, _ in children(schema)] == [
        ("properties", "properties/a~1b"),
        ("anyOf", "anyOf/0"),
        ("items", "items"),
    ]


@pytest.mark.parametrize(
    ("reference", "found"),
    [("#/$defs/a~1b", 1), ("#/definitions/c", 2), ("#/$defs/none", None), ("#", None), ("x", None)],
)
def test_reference_to_a_definition_is_followed(reference: str, found: int | None) -> None:
    schema = {"$defs": {"a/b": 1}, "definitions": {"c": 2}}

    assert definition(schema, reference) == found


def test_tree_contains_itself_and_a_list_does_not() -> None:
    tree: dict[str, Any] = {
        "$defs": {"T": {"items": {"$ref": "#/$defs/T"}}},
        "$ref": "#/$defs/T",
    }
    assert contains_itself(tree)

    twice: dict[str, Any] = {"$defs": {"A": {}}, "prefixItems": [{"$ref": "#/$defs/A"}] * 2}
    assert not contains_itself(twice)


@pytest.mark.parametrize(
    ("graph", "cycle"),
    [
        ({}, False),
        ({1: [2, 3], 2: [4], 3: [4], 4: []}, False),
        ({1: [2], 2: [3], 3: [2]}, True),
        ({1: [1]}, True),
        ({1: [2]}, False),
    ],
)
def test_cycle_is_found(graph: dict[int, list[int]], cycle: bool) -> None:
    assert has_cycle(graph) is cycle
