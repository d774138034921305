"""Threads as the chat store: named, kept apart, and never without a name by accident."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver

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


async def test_two_savers_in_memory_share_nothing(run: Any, thread: Any) -> None:
    await run(talker("one"), {"messages": "A"}, thread)
    result = await run(talker("two"), {"messages": "B"}, thread)
    assert [m.text for m in result["messages"]] == ["B", "two"]
