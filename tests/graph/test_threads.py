"""Threads as the chat store: named, kept apart, and never without a name by accident."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START
from langgraph.types import Command, Send

from interlock.graph import create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.state import InvalidInputError


def talker(*texts: str) -> Any:
    return create_agent(ScriptedChatModel(list(texts)), checkpointer=InMemorySaver())


async def test_a_thread_without_a_name_is_refused(run: Any) -> None:
    for config in (None, {}, {"configurable": {"other": 1}}):
        with pytest.raises(InvalidInputError, match="thread_id"):
            await run(talker("x"), {"messages": "go"}, config)


def test_a_stream_of_a_thread_without_a_name_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="thread_id"):
        next(talker("x").stream({"messages": "go"}))


async def test_the_name_may_come_from_the_agent_or_from_around_it(run: Any, thread: Any) -> None:
    agent = talker("x", "y")
    await run(agent.with_config(thread), {"messages": "go"})

    def turn(value: Any) -> Any:
        return agent.invoke(value)

    around: Any = RunnableLambda(turn)
    around.invoke({"messages": "again"}, thread)
    assert len(agent.get_state(thread).values["messages"]) == 4


async def test_a_thread_is_read_at_the_start_and_written_at_each_step(
    run: Any, thread: Any
) -> None:
    agent = talker("one", "two")
    await run(agent, {"messages": "A"}, thread)
    result = await run(agent, {"messages": "B"}, thread)
    assert [m.text for m in result["messages"]] == ["A", "one", "B", "two"]
    assert len({m.id for m in result["messages"]}) == 4


async def test_threads_share_nothing(run: Any) -> None:
    agent = talker("one", "two")
    await run(agent, {"messages": "A"}, {"configurable": {"thread_id": "a"}})
    result = await run(agent, {"messages": "B"}, {"configurable": {"thread_id": "b"}})
    assert [m.text for m in result["messages"]] == ["B", "two"]


GOTOS: list[Any] = [
    Send("model", {"messages": ["raw"]}),
    Send("nowhere", 1),
    ["model", Send("model", 3)],
    "nowhere",
    START,
    5,
]


@pytest.mark.parametrize("goto", GOTOS, ids=range(len(GOTOS)))
async def test_a_command_that_leads_past_the_state_stores_nothing(
    run: Any, thread: Any, goto: Any
) -> None:
    agent = talker("one", "two")
    await run(agent, {"messages": "A"}, thread)
    before = list(agent.get_state_history(thread))
    with pytest.raises(InvalidInputError, match=r"^The command goes to .* at model, __end__"):
        await run(agent, Command(goto=goto), thread)
    assert list(agent.get_state_history(thread)) == before
    assert (await run(agent, {"messages": "B"}, thread))["messages"][-1].text == "two"


async def test_a_stream_is_not_begun_by_a_command_that_leads_past_the_state(thread: Any) -> None:
    command: Command[Any] = Command(goto=Send("model", {}))
    with pytest.raises(InvalidInputError, match="a Send"):
        next(talker("x").stream(command, thread))
    with pytest.raises(InvalidInputError, match="a Send"):
        _ = [chunk async for chunk in talker("x").astream(command, thread)]
    with pytest.raises(InvalidInputError, match="a Send"):
        _ = [e async for e in talker("x").astream_events(command, thread, version="v2")]


async def test_a_command_may_go_to_a_node_by_its_name(run: Any, thread: Any) -> None:
    agent = talker("one", "two")
    await run(agent, {"messages": "A"}, thread)
    update = {"messages": ("user", "B")}
    result = await run(agent, Command(update=update, goto=["model"]), thread)
    assert [m.text for m in result["messages"]] == ["A", "one", "B", "two"]


async def test_two_savers_in_memory_share_nothing(run: Any, thread: Any) -> None:
    await run(talker("one"), {"messages": "A"}, thread)
    result = await run(talker("two"), {"messages": "B"}, thread)
    assert [m.text for m in result["messages"]] == ["B", "two"]
