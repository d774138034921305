from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel

from interlock.graph.structured_output import (
    OutputToolBinding,
    ProviderStrategyBinding,
    SchemaMismatchError,
    SchemaSpec,
    UnreadableAnswerError,
)


class Part(BaseModel):
    name: str


class Assembly(BaseModel):
    """An assembly."""

    parts: list[Part]


class Tree(BaseModel):
    branches: list[Tree] = []


def offered(schema: Any) -> dict[str, Any]:
    binding = OutputToolBinding[Any].from_schema_spec(SchemaSpec[Any](schema))
    return dict(convert_to_openai_tool(binding.offered)["function"])


def test_tool_has_name_description_and_nested_fields() -> None:
    function = offered(Assembly)

    assert (function["name"], function["description"]) == ("Assembly", "An assembly.")
    items = function["parameters"]["properties"]["parts"]["items"]
    assert items["properties"]["name"] == {"type": "string"}


def test_recursive_schema_reaches_the_provider_whole() -> None:
    parameters = offered(Tree)["parameters"]

    assert parameters["type"] == "object"
    assert parameters["properties"]["branches"]["items"] == {"$ref": "#/$defs/Tree"}
    assert "branches" in parameters["$defs"]["Tree"]["properties"]


def test_binding_has_a_tool_even_where_a_dict_is_offered() -> None:
    binding = OutputToolBinding[Any].from_schema_spec(SchemaSpec(Tree))

    assert isinstance(binding.tool, BaseTool)
    assert isinstance(binding.offered, dict)


def test_arguments_become_the_users_object() -> None:
    binding = OutputToolBinding[Any].from_schema_spec(SchemaSpec(Part))

    assert binding.parse({"name": "bolt"}) == Part(name="bolt")
    with pytest.raises(SchemaMismatchError, match="Failed to parse data to Part: name"):
        binding.parse({})


def test_text_becomes_the_users_object() -> None:
    binding = ProviderStrategyBinding[Any].from_schema_spec(SchemaSpec(Part))

    assert binding.parse(AIMessage('{"name": "bolt"}')) == Part(name="bolt")
    with pytest.raises(UnreadableAnswerError, match="expected valid JSON for Part"):
        binding.parse(AIMessage("prose"))
    with pytest.raises(SchemaMismatchError, match="Failed to parse data to Part"):
        binding.parse(AIMessage("{}"))
