"""Toolsets of an agent: looked at again at each step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.checkpoint.memory import InMemorySaver

from interlock.graph import Agent, create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.state.errors import ToolDefinitionError
from interlock.tools import Toolset

Calling = Callable[..., AIMessage]
GO: dict[str, Any] = {"messages": "go"}


def made(name: str) -> BaseTool:
    return StructuredTool.from_function(
        lambda: f"{name} done", name=name, description=f"{name.replace('_', ' ')} for a person."
    )


def offered(model: ScriptedChatModel) -> list[list[str]]:
    """The names of the tools of each request."""
    return [[t["function"]["name"] for t in o.get("tools", [])] for o in model.options]


def texts(result: Any) -> list[str]:
    return [m.text for m in result["messages"] if m.type == "tool"]


@pytest.mark.parametrize("wrapped", [True, False], ids=["in a list", "alone"])
async def test_an_agent_has_the_tools_of_a_toolset(
    run: Any, calling: Calling, wrapped: bool
) -> None:
    model = ScriptedChatModel([calling(("one", {}), ("two", {})), "done"])
    group = Toolset([made("one"), made("two")])
    result = await run(create_agent(model, [group] if wrapped else group), GO)
    assert (texts(result), offered(model)[0]) == (["one done", "two done"], ["one", "two"])


async def test_toolsets_and_plain_tools_mix(run: Any) -> None:
    model = ScriptedChatModel(["done"])
    joined = Toolset([made("two")], name="a") + Toolset([made("three")], name="b")
    await run(create_agent(model, [made("one"), joined, made("four")]), GO)
    assert offered(model)[0] == ["one", "two", "three", "four"]


def test_one_name_in_two_toolsets_is_refused_when_the_agent_is_built() -> None:
    groups = [Toolset([made("one")], name="a"), Toolset([made("one")], name="b")]
    with pytest.raises(ToolDefinitionError, match="one of toolset 'a', one of toolset 'b'"):
        create_agent(ScriptedChatModel(["hi"]), groups)


@pytest.mark.parametrize("durable", [True, False])
async def test_a_tool_that_is_added_during_a_run_is_offered_from_the_next_step_on(
    run: Any, calling: Calling, thread: Any, durable: bool
) -> None:
    group = Toolset(name="group")

    def learn() -> str:
        """Learn a new tool."""
        group.add(made("new"))
        return "learnt"

    group.add(learn)
    model = ScriptedChatModel([calling(("learn", {})), calling(("new", {}), start=2), "done"])
    agent = create_agent(model, [group], checkpointer=InMemorySaver() if durable else None)
    result = await run(agent, GO, thread)
    assert offered(model) == [["learn"], ["learn", "new"], ["learn", "new"]]
    assert texts(result) == ["learnt", "new done"]


async def test_a_name_that_is_taken_during_a_run_ends_it_with_a_clear_error(
    run: Any, calling: Calling
) -> None:
    group = Toolset(name="group")

    def learn() -> str:
        """Learn a new tool."""
        group.add(made("one"))
        return "learnt"

    group.add(learn)
    agent = create_agent(ScriptedChatModel([calling(("learn", {})), "done"]), [made("one"), group])
    with pytest.raises(ToolDefinitionError, match="one of the agent, one of toolset 'group'"):
        await run(agent, GO)


async def test_a_toolset_of_another_kind_decides_itself_what_is_visible(
    run: Any, calling: Calling
) -> None:
    class Growing(Toolset):
        """Shows one more tool with each message."""

        def visible(self, state: Any) -> Iterator[BaseTool]:
            return iter(list(self)[: len(state["messages"])])

    model = ScriptedChatModel([calling(("one", {})), "done"])
    await run(create_agent(model, [Growing([made("one"), made("two"), made("three")])]), GO)
    assert offered(model) == [["one"], ["one", "two", "three"]]


async def test_tools_are_found_by_the_first_run_and_not_before(run: Any, calling: Calling) -> None:
    found: list[int] = []

    def find_tools() -> list[BaseTool]:
        found.append(1)
        return [made("one")]

    model = ScriptedChatModel([calling(("one", {})), "done"])
    agent = create_agent(model, [Toolset(find_tools)])
    assert found == []
    assert (texts(await run(agent, GO)), found) == (["one done"], [1])


def test_an_exit_tool_of_a_toolset_is_known() -> None:
    group = Toolset([made("one")])
    with pytest.warns(UserWarning, match="Did you mean 'one'"):
        create_agent(ScriptedChatModel(["hi"]), [group], exit_conditions=["onee"])
    create_agent(ScriptedChatModel(["hi"]), [group], exit_conditions=["one"])


def test_a_run_can_choose_tools_of_a_toolset_by_name(calling: Calling) -> None:
    model = ScriptedChatModel([calling(("one", {})), "done", "hi"])
    agent = Agent(model=model, tools=[Toolset([made("one"), made("two")]), made("three")])
    agent.run("go", tools=["one"])
    agent.run("go")
    assert offered(model) == [["one"], ["one"], ["one", "two", "three"]]


def test_a_run_can_bring_a_toolset_that_grows(calling: Calling) -> None:
    group = Toolset(name="group")

    def learn() -> str:
        """Learn a new tool."""
        group.add(made("new"))
        return "learnt"

    group.add(learn)
    model = ScriptedChatModel([calling(("learn", {})), "done"])
    Agent(model=model, tools=[made("one")]).run("go", tools=[group])
    assert offered(model) == [["learn"], ["learn", "new"]]


def test_an_agent_warms_up_and_closes_its_toolsets() -> None:
    said: list[str] = []

    def find_tools() -> list[BaseTool]:
        said.append("found")
        return [made("one")]

    group = Toolset(find_tools, on_close=lambda: said.append("closed"))
    joined = Toolset([made("two")], on_close=lambda: said.append("closed, too")) + Toolset()
    with Agent(model=ScriptedChatModel(["hi"]), tools=[group, joined]):
        assert said == ["found"]
    assert said == ["found", "closed", "closed, too"]
