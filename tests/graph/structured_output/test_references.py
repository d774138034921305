from __future__ import annotations

from typing import Any

import pytest

from interlock.graph.structured_output.references import follow_references
from interlock.state.errors import ConfigurationError

TREE = {"properties": {"kids": {"items": {"$ref": "#"}}}}


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"properties": {"a": {"$ref": "#/$defs/no"}}}, "#/properties/a/$ref"),
        ({"$defs": {"a/b": {"items": {"$ref": "#/$defs/no"}}}}, "#/$defs/a~1b/items/$ref"),
        ({"anyOf": [{}, {"$ref": "other.json"}]}, "#/anyOf/1/$ref"),
        ({"$ref": "#/required/zero", "required": ["a"]}, "#/$ref"),
        ({"not": {"$ref": "http://["}}, "#/not/$ref"),
    ],
)
def test_reference_to_nowhere_is_refused_with_its_place(schema: dict[str, Any], place: str) -> None:
    with pytest.raises(ConfigurationError, match="leads nowhere") as caught:
        follow_references(schema, "The schema 'X'")

    assert place in str(caught.value)


def test_reference_to_something_else_than_a_schema_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="no schema"):
        follow_references({"items": {"$ref": "#/required"}, "required": ["a"]}, "X")


def test_other_documents_are_never_fetched() -> None:
    with pytest.raises(ConfigurationError, match="not fetched"):
        follow_references({"$ref": "http://127.0.0.1:9/schema.json"}, "X")


def test_reference_to_a_metaschema_needs_no_network() -> None:
    follow_references({"$ref": "https://json-schema.org/draft/2020-12/schema"}, "X")


def test_reference_is_read_from_the_schema_that_has_the_id() -> None:
    inner: dict[str, Any] = {
        "$id": "http://here/inner",
        "$defs": {"n": {}},
        "items": {"$ref": "#/$defs/n"},
    }

    follow_references({"properties": {"a": inner}}, "X")


def test_schema_that_contains_itself_is_recursive_but_not_endless() -> None:
    found = follow_references(TREE, "X")

    assert (found.recursive, found.endless) == (True, False)


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}}},
    ],
)
def test_schema_that_applies_itself_to_the_same_value_is_endless(schema: dict[str, Any]) -> None:
    assert follow_references(schema, "X").endless


def test_schema_used_twice_is_not_recursive() -> None:
    schema: dict[str, Any] = {
        "$defs": {"a": {}},
        "prefixItems": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}],
    }

    assert not follow_references(schema, "X").recursive


def test_property_that_is_named_like_a_keyword_is_no_reference() -> None:
    follow_references({"properties": {"$ref": {"type": "string"}}, "const": {"$ref": "no"}}, "X")
