from __future__ import annotations

from typing import Any

import pytest
from langchain_core.tools import StructuredTool, tool

from interlock.state.errors import ToolDefinitionError
from interlock.tools import collect_tools


def named(name: str) -> Any:
    return StructuredTool.from_function(lambda: "x", name=name, description="Do something.")


def test_functions_and_tools_keep_their_order() -> None:
    def search(query: str) -> str:
        """Search."""
        return query

    tools = collect_tools([("middleware 'A'", [named("first")]), ("the agent", [search])])
    assert list(tools.by_name) == ["first", "search"]


def test_a_providers_tool_is_offered_as_it_is() -> None:
    entry = {"type": "web_search"}
    tools = collect_tools([("the agent", [entry, named("a")])])
    assert tools.offered[-1] is entry
    assert list(tools.by_name) == ["a"]


def test_two_tools_of_one_name_are_refused_with_both_owners() -> None:
    with pytest.raises(ToolDefinitionError, match=r"'a'.*middleware 'M'.*the agent") as caught:
        collect_tools([("middleware 'M'", [named("a")]), ("the agent", [named("a")])])
    assert caught.value.tool_name == "a"


def test_the_same_tool_twice_is_one() -> None:
    one = named("a")
    assert len(collect_tools([("x", [one]), ("y", [one])]).by_name) == 1


@pytest.mark.parametrize("name", ["a b", "a.b", "größe", "x" * 65, "", "a/b", "a\n"])
def test_a_name_that_providers_refuse_is_refused(name: str) -> None:
    with pytest.raises(ToolDefinitionError, match="64 letters"):
        collect_tools([("the agent", [named(name)])])


def test_a_tool_needs_a_description() -> None:
    def silent() -> str:
        return "x"

    with pytest.raises(ToolDefinitionError, match="'silent'"):
        collect_tools([("the agent", [silent])])


@pytest.mark.parametrize("entry", [None, 7, "search", str])
def test_what_is_no_tool_is_refused(entry: Any) -> None:
    with pytest.raises(ToolDefinitionError):
        collect_tools([("the agent", [entry])])


def test_arguments_without_a_json_schema_are_refused() -> None:
    class Odd:
        pass

    def use(odd: Any) -> str:
        """Use."""
        return str(odd)

    use.__annotations__["odd"] = Odd
    with pytest.raises(ToolDefinitionError, match="use"):
        collect_tools([("the agent", [tool(use)])])
