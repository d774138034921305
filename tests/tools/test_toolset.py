"""Groups of tools."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.tools import BaseTool, StructuredTool

from interlock import tools
from interlock.state.errors import ConfigurationError, ToolDefinitionError
from interlock.tools import Toolset


def made(name: str) -> BaseTool:
    return StructuredTool.from_function(lambda: name, name=name, description=f"Do {name}.")


def some(*names: str) -> list[BaseTool]:
    return [made(name) for name in names]


def greet(name: str) -> str:
    """Greet somebody."""
    return f"hello {name}"


def test_a_toolset_is_read_like_a_list() -> None:
    one, two = made("one"), made("two")
    group = Toolset([one, two])
    assert (list(group), len(group), group[1], group[-1]) == ([one, two], 2, two, two)


def test_a_tool_is_contained_by_name_and_by_object() -> None:
    one = made("one")
    group = Toolset([one])
    assert ["one" in group, one in group] == [True, True]
    assert ["two" in group, made("one") in group, 1 in group] == [False, False, False]


def test_a_function_becomes_a_tool_once() -> None:
    group = Toolset([greet])
    assert group[0] is group[0]
    assert group[0].description.startswith("Greet")


def test_a_tool_can_be_added() -> None:
    group = Toolset()
    group.add(greet)
    group.add(Toolset([made("one"), made("two")]))
    assert [t.name for t in group] == ["greet", "one", "two"]


def test_a_taken_name_is_refused_and_nothing_is_added() -> None:
    group = Toolset([made("one")], name="letters")
    with pytest.raises(ToolDefinitionError, match=r"'letters' are named 'one'") as caught:
        group.add(Toolset([made("two"), made("one")]))
    assert caught.value.tool_name == "one"
    assert [t.name for t in group] == ["one"]


def test_the_same_tool_twice_is_one_tool() -> None:
    one = made("one")
    assert len(Toolset([one, one])) == 1


@pytest.mark.parametrize("entry", [42, int, {"type": "web_search"}])
def test_what_is_no_tool_is_refused(entry: Any) -> None:
    with pytest.raises(ToolDefinitionError):
        Toolset([entry])


def test_plus_joins_toolsets_and_lists() -> None:
    group = Toolset([made("one")], name="a") + Toolset([made("two")], name="b") + some("three")
    assert [t.name for t in some("zero") + group] == ["zero", "one", "two", "three"]
    assert [part.name for part in group.parts] == ["a", "b", "tools"]


def test_plus_takes_a_single_tool() -> None:
    assert [t.name for t in Toolset([made("one")]) + greet] == ["one", "greet"]


def test_plus_leaves_its_operands_as_they_are() -> None:
    one = Toolset([made("one")])
    _ = one + some("two")
    assert len(one) == 1


def test_a_name_in_two_joined_toolsets_is_refused() -> None:
    with pytest.raises(ToolDefinitionError, match="'a' and 'b' both have a tool 'one'"):
        _ = Toolset([made("one")], name="a") + Toolset([made("one")], name="b")


def test_a_joined_toolset_shows_what_is_added_to_a_part() -> None:
    part = Toolset([made("one")])
    group = part + some("two")
    part.add(made("three"))
    assert [t.name for t in group] == ["one", "three", "two"]


def test_a_joined_toolset_takes_no_tool_itself() -> None:
    group = Toolset([made("one")], name="a") + Toolset([made("two")], name="b")
    with pytest.raises(ConfigurationError, match="one of 'a', 'b'"):
        group.add(made("three"))


def test_tools_are_found_when_they_are_first_needed_and_once() -> None:
    found: list[int] = []

    def find() -> list[BaseTool]:
        found.append(1)
        return [made("one")]

    group = Toolset(find)
    assert (group.loaded, bool(group), repr(group), found) == (
        False, True, "Toolset('toolset': not found yet)", [],
    )  # fmt: skip
    assert [len(group), len(group)] == [1, 1]
    group.warm_up()
    assert (group.loaded, found) == (True, [1])


def test_a_failed_search_for_tools_is_tried_again() -> None:
    answers: list[Any] = [ConnectionError("down"), [made("one")]]

    def find() -> list[BaseTool]:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return list(answer)

    group = Toolset(find)
    with pytest.raises(ConnectionError):
        group.warm_up()
    assert len(group) == 1


def test_warm_up_and_close_reach_tools_and_group() -> None:
    said: list[str] = []

    class Connected(StructuredTool):
        def warm_up(self) -> None:
            said.append("ready")

        def close(self) -> None:
            said.append("closed")

    tool = Connected.from_function(greet)
    group = Toolset([tool], on_close=lambda: said.append("gone")) + some("one")
    group.warm_up()
    group.close()
    assert said == ["ready", "closed", "gone"]


def test_a_restricted_toolset_is_another_one() -> None:
    group = Toolset([made("one"), made("two")], name="a") + Toolset([made("three")], name="b")
    some = group.restricted(["three", "one"])
    assert [t.name for t in some] == ["one", "three"]
    assert len(group) == 3


def test_no_two_public_names_differ_in_their_case_alone() -> None:
    names = [name.lower() for name in tools.__all__]
    assert len(set(names)) == len(names)
