"""Tools in the form the engine was trained on."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, Field

from interlock.graph.models.embedded.tool_set import ToolLimits, engine_tools, tools_json
from interlock.state.errors import ConfigurationError, ToolDefinitionError

LIMITS = ToolLimits(tools=2, tokens=1000)


class Address(BaseModel):
    """Where somebody lives."""

    city: str = Field(description="City")
    zip_code: str | None = None


class Person(BaseModel):
    """A person."""

    name: str = Field(description="Full name", min_length=1)
    age: int = Field(ge=0, le=150)
    kind: Literal["guest", "host"] = "guest"
    nickname: str | None
    tags: list[str] = Field(default_factory=list)
    home: Address
    score: int | str = 3
    friends: list[Person] = []


def wired(**parameters: Any) -> dict[str, Any]:
    schema = {"type": "object", **parameters}
    return {"type": "function", "function": {"name": "f", "parameters": schema}}


def value_form(schema: Any, **root: Any) -> Any:
    (tool,) = engine_tools([wired(properties={"x": schema}, **root)], LIMITS)
    return tool.form["parameters"]["properties"]["x"]


def test_a_tool_has_the_keys_of_the_engine_in_its_order() -> None:
    (person,) = engine_tools([convert_to_openai_tool(Person)], LIMITS)
    assert list(person.form) == ["name", "description", "parameters"]
    assert list(person.form["parameters"]) == ["type", "properties", "required"]
    text = tools_json([person])
    for word in ("title", "default", "$defs", "$ref", "anyOf", "additionalProperties"):
        assert f'"{word}"' not in text


def test_arguments_keep_what_the_grammar_can_hold() -> None:
    (person,) = engine_tools([convert_to_openai_tool(Person)], LIMITS)
    properties = person.form["parameters"]["properties"]
    assert properties["name"] == {"type": "string", "description": "Full name", "minLength": 1}
    assert properties["age"] == {"type": "integer", "minimum": 0, "maximum": 150}
    assert properties["kind"] == {"type": "string", "enum": ["guest", "host"]}
    assert properties["tags"] == {"type": "array", "items": {"type": "string"}}
    assert properties["score"] == {"type": "integer"}


def test_an_inner_record_is_written_out() -> None:
    (person,) = engine_tools([convert_to_openai_tool(Person)], LIMITS)
    home = person.form["parameters"]["properties"]["home"]
    assert home["properties"]["city"] == {"type": "string", "description": "City"}
    assert home["required"] == ["city"]


def test_a_schema_within_itself_ends() -> None:
    (person,) = engine_tools([convert_to_openai_tool(Person)], LIMITS)
    friends = person.form["parameters"]["properties"]["friends"]
    assert len(json.dumps(friends)) < 2000


def test_an_argument_that_may_be_null_is_not_demanded() -> None:
    (person,) = engine_tools([convert_to_openai_tool(Person)], LIMITS)
    assert person.nullable == {"nickname"}
    assert person.form["parameters"]["required"] == ["name", "age", "home"]


@pytest.mark.parametrize(
    ("schema", "form"),
    [
        ({}, {"type": "string"}),
        (True, {"type": "string"}),
        ({"type": ["null", "number"]}, {"type": "number"}),
        ({"enum": [1, 2]}, {"type": "integer", "enum": [1, 2]}),
        ({"enum": [True]}, {"type": "boolean", "enum": [True]}),
        ({"const": "a"}, {"type": "string", "const": "a"}),
        ({"type": "object", "additionalProperties": {"type": "string"}}, {"type": "object"}),
        ({"type": "array"}, {"type": "array", "items": {"type": "string"}}),
        ({"anyOf": [{"type": "null"}]}, {"type": "string"}),
        (
            {"allOf": [{"type": "integer"}], "description": "d"},
            {"type": "integer", "description": "d"},
        ),
        ({"$ref": "#/$defs/missing"}, {"type": "string"}),
        ({"properties": {"a": {"type": "null"}}}, None),
    ],
)
def test_any_schema_gets_a_type(schema: Any, form: Any) -> None:
    found = value_form(schema)
    assert found == form or (form is None and found["type"] == "object")


def test_a_reference_is_followed_and_its_description_overrides() -> None:
    found = value_form(
        {"$ref": "#/$defs/Size", "description": "outer"},
        **{"$defs": {"Size": {"type": "string", "enum": ["s"], "description": "inner"}}},
    )
    assert found == {"type": "string", "description": "outer", "enum": ["s"]}


def test_a_tool_without_parameters_takes_none() -> None:
    (tool,) = engine_tools([{"type": "function", "function": {"name": "now"}}], LIMITS)
    assert tool.form["parameters"] == {"type": "object", "properties": {}, "required": []}


def test_too_many_tools_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="given 3 tools and takes 2"):
        engine_tools([wired()] * 3, ToolLimits(2, 1000))


def test_a_tool_of_a_provider_is_refused() -> None:
    with pytest.raises(ToolDefinitionError, match="web_search"):
        engine_tools([{"type": "web_search"}], LIMITS)


def test_tools_that_are_too_long_are_refused() -> None:
    long = wired(properties={"x": {"type": "string", "description": "word " * 1000}})
    with pytest.raises(
        ConfigurationError, match=r"about 10\d\d tokens, and the embedded model takes 1000"
    ):
        engine_tools([long], LIMITS)
