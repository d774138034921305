from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import Field
from typing_extensions import TypeAliasType

from interlock.graph.structured_output.variants import unpacked, variants
from interlock.state.errors import ConfigurationError

Named = TypeAliasType("Named", int | str)


UNIONS: list[tuple[Any, list[Any]]] = [
    (int, [int]),
    (int | str, [int, str]),
    (int | (str | float), [int, str, float]),
    (Named, [int, str]),
    (list[int | str], [list[int | str]]),
    ({"oneOf": [{"title": "A"}, {"oneOf": [{"title": "B"}]}]}, [{"title": "A"}, {"title": "B"}]),
    ({"type": "object", "oneOf": [{}]}, [{"type": "object", "oneOf": [{}]}]),
]


@pytest.mark.parametrize(("schema", "expected"), UNIONS)
def test_union_is_taken_apart(schema: Any, expected: list[Any]) -> None:
    assert variants(schema) == expected


def test_annotated_union_stays_whole() -> None:
    union = Annotated[int | str, Field(description="either")]

    assert variants(union) == [union]


def test_alternatives_keep_the_definitions_they_share() -> None:
    schema = {"$defs": {"A": {"type": "object"}}, "oneOf": [{"$ref": "#/$defs/A"}]}

    assert variants(schema) == [
        {"title": "A", "$ref": "#/$defs/A", "$defs": {"A": {"type": "object"}}}
    ]


def test_alternatives_that_refer_to_the_whole_stay_together() -> None:
    schema = {"oneOf": [{"properties": {"left": {"$ref": "#"}}}, {"type": "object"}]}

    assert variants(schema) == [schema]


@pytest.mark.parametrize("schema", [{"oneOf": []}, {"oneOf": {}}, {"oneOf": [3]}])
def test_broken_alternatives_are_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="oneOf"):
        variants(schema)


@pytest.mark.parametrize(
    "envelope",
    [
        {"type": "json_schema", "schema": {"type": "object"}, "name": "A"},
        {"type": "json_schema", "json_schema": {"schema": {"type": "object"}, "name": "A"}},
    ],
)
def test_envelope_of_a_provider_is_taken_off(envelope: dict[str, Any]) -> None:
    assert unpacked(envelope) == {"type": "object", "title": "A"}


def test_empty_envelope_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="Give the schema itself"):
        unpacked({"type": "json_schema"})
