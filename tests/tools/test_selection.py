"""The tools of one run, chosen by name or given."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.tools import BaseTool, StructuredTool

from interlock.state.errors import InvalidInputError, InvalidInputTypeError
from interlock.tools import Toolset, select_tools


def made(name: str) -> BaseTool:
    return StructuredTool.from_function(lambda: name, name=name, description=f"Do {name}.")


def greet(name: str) -> str:
    """Greet somebody."""
    return f"hello {name}"


ONE, TWO = made("one"), made("two")
LETTERS = Toolset([made("write"), made("send")], name="letters")
POOL: list[Any] = [ONE, LETTERS, TWO, greet, {"type": "web_search"}]


def names(tools: list[Any]) -> list[str]:
    """The names, those of a toolset included."""
    return [
        name
        for t in tools
        for name in ([x.name for x in t] if isinstance(t, Toolset) else [getattr(t, "name", t)])
    ]


def test_none_takes_all_tools() -> None:
    chosen = select_tools(POOL, None)
    assert chosen == POOL
    assert chosen is not POOL


def test_names_take_some_tools_in_the_order_of_the_agent() -> None:
    assert select_tools(POOL, ["two", "one"]) == [ONE, TWO]


def test_a_name_takes_a_tool_out_of_a_toolset_and_leaves_the_toolset_whole() -> None:
    assert names(select_tools(POOL, ["send", "one"])) == ["one", "send"]
    assert len(LETTERS) == 2


def test_functions_and_tools_of_providers_have_names_too() -> None:
    assert select_tools(POOL, ["web_search", "greet"]) == [greet, {"type": "web_search"}]


def test_an_empty_list_means_no_tools() -> None:
    assert select_tools(POOL, []) == []


def test_other_tools_replace_those_of_the_agent() -> None:
    other = Toolset([made("other")])
    assert select_tools(POOL, [other, made("x")])[0] is other
    assert select_tools(POOL, other) == [other]


def test_names_and_other_tools_can_be_mixed() -> None:
    assert names(select_tools(POOL, [made("new"), "two"])) == ["two", "new"]


def test_a_whole_toolset_may_be_what_is_available() -> None:
    assert names(select_tools(LETTERS, ["send"])) == ["send"]


def test_an_unknown_name_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(InvalidInputError, match=r"no tool 'sendd'.*Did you mean 'send'\?"):
        select_tools(POOL, ["sendd"])


def test_a_name_without_any_tools_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="the agent has no tools"):
        select_tools([], ["send"])


@pytest.mark.parametrize("wanted", ["send", 7, {"type": "x"}, ONE, [3], [int], [None]])
def test_what_is_no_selection_is_a_type_error(wanted: Any) -> None:
    with pytest.raises(InvalidInputTypeError) as caught:
        select_tools(POOL, wanted)
    assert isinstance(caught.value, TypeError)
