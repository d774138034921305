from __future__ import annotations

from typing import Any

import pytest

from interlock.graph.structured_output.json_schema import check_for
from interlock.graph.structured_output.shape import provider_shape


def test_object_schema_is_offered_as_it_is() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "title": "A",
        "properties": {"x": {"type": "string"}},
    }

    assert provider_shape(schema, "A").json_schema == schema


def test_object_without_type_properties_or_title_gets_them() -> None:
    assert provider_shape({"type": "object"}, "A").json_schema == {
        "type": "object",
        "properties": {},
        "title": "A",
    }


def test_title_that_providers_refuse_is_replaced() -> None:
    shape = provider_shape({"type": "object", "title": "A[int]"}, "A_int")

    assert shape.json_schema["title"] == "A_int"


def test_reference_at_the_root_is_replaced_by_its_goal() -> None:
    schema: dict[str, Any] = {
        "$ref": "#/$defs/A",
        "$defs": {"A": {"type": "object", "properties": {"x": {}}}},
    }
    shape = provider_shape(schema, "A")

    assert not shape.wrapped
    assert shape.json_schema["properties"] == {"x": {}}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array"},
        {"enum": ["a"]},
        {},
        {"anyOf": [{"type": "object"}, {"type": "array"}]},
        {"type": ["object", "null"]},
    ],
)
def test_anything_else_is_wrapped_into_an_object(schema: dict[str, Any]) -> None:
    shape = provider_shape(schema, "A")

    assert shape.wrapped
    assert shape.json_schema["properties"] == {"value": schema}


def test_references_still_lead_to_their_goals_after_wrapping() -> None:
    schema: dict[str, Any] = {
        "type": "array",
        "items": {"$ref": "#/$defs/T"},
        "$defs": {"T": {"properties": {"up": {"$ref": "#"}, "n": {"$ref": "#/items"}}}},
    }
    shape = provider_shape(schema, "A")
    check = check_for(shape.json_schema, "A")

    leaf: dict[str, Any] = {}
    answer = {"value": [{"up": [leaf], "n": leaf}]}
    assert check(answer) == answer
    assert shape.json_schema["$defs"]["T"]["properties"]["up"] == {"$ref": "#/properties/value"}


def test_wrapped_schema_with_an_id_keeps_its_definitions_inside() -> None:
    schema: dict[str, Any] = {
        "$id": "http://x/y",
        "items": {"$ref": "#/$defs/n"},
        "$defs": {"n": {}},
    }
    shape = provider_shape(schema, "A")

    assert shape.json_schema["properties"]["value"] == schema
    check_for(shape.json_schema, "A")
