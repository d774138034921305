from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.graph.structured_output.json_schema import check_for
from interlock.state.errors import ConfigurationError
from interlock.state.structured_errors import SchemaMismatchError

WORDS = ["type", "properties", "items", "$ref", "anyOf", "pattern", "$defs", "required", "$id"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
SCHEMAS = st.recursive(
    JSON | st.sampled_from(["object", "#", "#/$defs/a", "(", "string"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(WORDS) | st.just("a"), inner)
    ),
    max_leaves=10,
)


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "json"}, "type"),
        ({"properties": {"a": {"pattern": "("}}}, "properties"),
        ({"$schema": 5}, r"\$schema"),
        ({"type": object}, "no JSON"),
        ({"const": float("nan")}, "no JSON"),
        ({"$ref": "#"}, "itself without end"),
    ],
)
def test_broken_schema_is_refused_when_it_is_given(schema: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        check_for(schema, "X")


def test_schema_that_holds_itself_in_python_is_refused() -> None:
    schema: dict[str, Any] = {}
    schema["properties"] = {"a": schema}

    with pytest.raises(ConfigurationError, match="no JSON"):
        check_for(schema, "X")


def test_later_changes_of_the_dict_have_no_effect() -> None:
    schema: dict[str, Any] = {"type": "string"}
    check = check_for(schema, "X")
    schema["type"] = "integer"

    assert check("text") == "text"


def test_definitions_are_followed() -> None:
    check = check_for({"$defs": {"n": {"minimum": 3}}, "items": {"$ref": "#/$defs/n"}}, "X")

    with pytest.raises(SchemaMismatchError, match=r"\[0\]"):
        check([1])


def test_formats_are_asserted() -> None:
    with pytest.raises(SchemaMismatchError, match="date"):
        check_for({"format": "date"}, "X")("12 March")


def test_value_nested_too_deeply_is_a_mismatch() -> None:
    check = check_for({"properties": {"a": {"$ref": "#"}}}, "X")
    value: dict[str, Any] = {}
    for _ in range(5_000):
        value = {"a": value}

    with pytest.raises(SchemaMismatchError, match="cannot be checked"):
        check(value)


def test_number_beyond_all_floats_is_a_mismatch() -> None:
    with pytest.raises(SchemaMismatchError, match="cannot be checked"):
        check_for({"multipleOf": 0.1}, "X")(10**400)


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.sampled_from(WORDS), SCHEMAS, max_size=4), JSON)
def test_any_dict_is_a_schema_or_refused_and_any_value_fits_or_not(
    schema: dict[str, Any], value: object
) -> None:
    try:
        check_for(schema, "X")(value)
    except (ConfigurationError, SchemaMismatchError) as error:
        assert str(error)  # noqa: PT017 -- most random schemas are broken, in ever new ways
