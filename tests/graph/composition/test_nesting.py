"""Where the run of an agent inside another graph is kept: the names of langgraph it rests on."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

from interlock.graph import agent_tool, create_agent
from interlock.graph.composition.nesting import (
    CALL_MARK,
    depth_of,
    nested_config,
    nested_run,
    remembered_config,
)
from interlock.graph.composition.sub_agent import DEEPEST
from interlock.graph.engine import is_inside, is_nested, nodes_around, within
from interlock.graph.models import ScriptedChatModel
from interlock.state.limit_errors import LimitExceededError
from interlock.tools import Toolset
from interlock.tools.calls import AWAITING

AT: Any = {"configurable": {"checkpoint_ns": "front:1|tools:2", "thread_id": "t"}}


def place(config: Any) -> str:
    return str(config["configurable"]["checkpoint_ns"])


def test_each_call_has_a_place_of_its_own_under_the_tools_name() -> None:
    assert place(nested_config(AT, "helper", "c1")) == "front:1|tools:2|helper:c1"
    assert place(nested_config({}, "helper", "c1")) == ""


def test_remembered_calls_share_a_place_and_are_told_apart_by_a_mark() -> None:
    one, other = (remembered_config(AT, "helper", ident) for ident in ("c1", "c2"))
    assert place(one) == place(other) == "front|tools|helper"
    marks = [config.get("metadata", {})[CALL_MARK] for config in (one, other)]
    assert marks == ["c1", "c2"]


async def test_a_run_that_nothing_stores_is_left_as_it_is() -> None:
    assert await nested_run(AWAITING, AT, (), remembers=True) is AT


@pytest.mark.parametrize("depth", [1, 2])
def test_a_node_knows_the_nodes_around_it_and_no_others(depth: int) -> None:
    seen: list[RunnableConfig] = []

    def look(state: MessagesState, config: RunnableConfig) -> MessagesState:
        seen.append(config)
        return state

    graph: Any = StateGraph(MessagesState).add_node("look", look).add_edge(START, "look")
    graph.add_node("other", look)
    compiled = graph.compile()
    if depth == 2:
        outer: Any = StateGraph(MessagesState).add_node("inner", compiled).add_edge(START, "inner")
        compiled = outer.compile(checkpointer=InMemorySaver())
    compiled.invoke({"messages": []}, {"configurable": {"thread_id": "t"}})
    assert nodes_around(seen[0]) == {"look", "other", "__end__"}
    assert is_inside(seen[0]) is (depth == 2)
    assert is_nested(seen[0])


def test_a_run_that_is_begun_in_a_node_without_its_config_is_part_of_it() -> None:
    seen: list[Any] = []

    def look(state: MessagesState) -> MessagesState:
        seen.append((within(None), within({"configurable": {"thread_id": "mine"}})))
        return state

    graph: Any = StateGraph(MessagesState).add_node("look", look).add_edge(START, "look")
    graph.compile().invoke({"messages": []})
    part, own = seen[0]
    assert (is_nested(part), is_nested(own), within(None)) == (True, False, None)


@pytest.mark.parametrize(
    ("where", "depth"),
    [("", 0), ("tools:1", 0), ("front:1|tools:2", 0), ("tools:1|a:c1|tools:2", 1)],
)
def test_depth_is_the_number_of_agents_around(where: str, depth: int) -> None:
    assert depth_of({"configurable": {"checkpoint_ns": where}}) == depth


@pytest.mark.parametrize("saver", [None, InMemorySaver()], ids=["", "stored"])
async def test_agents_that_call_each_other_come_to_an_end(
    run: Any, calling: Any, saver: Any
) -> None:
    tools = Toolset([], name="selves")
    ask = calling(("self", {"task": "again"}))
    model = ScriptedChatModel([ask], repeat_last=True)
    agent = create_agent(model, tools=tools, name="self", checkpointer=saver)
    tools.add(agent_tool(create_agent(model, tools=tools, name="self"), description="Ask."))
    with pytest.raises(LimitExceededError, match="inside of 16 others"):
        await run(agent, {"messages": "go"}, {"configurable": {"thread_id": str(uuid.uuid4())}})
    assert len(model.requests) == DEEPEST + 1
