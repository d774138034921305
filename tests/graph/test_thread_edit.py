"""Editing a thread with ``update_state``: the run goes on where it was, with the edit."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

from interlock.graph import AgentGraph, AgentState, create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import HumanInTheLoopMiddleware, NotWaitingError, after_model
from interlock.tools import tool

THREAD: Any = {"configurable": {"thread_id": "t"}}
QUESTION: Any = {"messages": [("user", "Go")]}


@tool
def look_up(word: str) -> str:
    """Look a word up."""
    return f"found {word}"


def reply(*words: str) -> AIMessage:
    calls = [
        {"name": "look_up", "args": {"word": word}, "id": f"c{n}", "type": "tool_call"}
        for n, word in enumerate(words)
    ]
    return AIMessage("", tool_calls=calls, id="reply")


def agent_of(*script: Any, **settings: Any) -> AgentGraph:
    model = ScriptedChatModel(list(script))
    return create_agent(model, [look_up], checkpointer=InMemorySaver(), **settings)


async def edit(agent: Any, mode: str, update: Any, as_node: str | None = None) -> None:
    if mode == "ainvoke":
        await agent.aupdate_state(THREAD, update, as_node)
    else:
        agent.update_state(THREAD, update, as_node)


async def run(agent: Any, mode: str, given: Any = None) -> Any:
    result = getattr(agent, mode)(given, THREAD)
    return await result if mode == "ainvoke" else result


def texts(result: Any) -> list[str]:
    return [m.text for m in result["messages"]]


both = pytest.mark.parametrize("mode", ["invoke", "ainvoke"])


@both
async def test_an_edited_call_runs_instead_of_the_one_that_waited(mode: str) -> None:
    agent = agent_of(reply("rome"), "done", interrupt_before=["tools"])
    await run(agent, mode, QUESTION)
    await edit(agent, mode, {"messages": [reply("oslo")]})

    assert agent.get_state(THREAD).next == ("tools",)
    result = await run(agent, mode)
    assert texts(result) == ["Go", "", "found oslo", "done"]
    assert (result["step_count"], result["tool_call_counts"]) == (2, {"look_up": 1})


@both
async def test_several_edited_calls_run_once_each(mode: str) -> None:
    agent = agent_of(reply("a", "b"), "done", interrupt_before=["tools"])
    await run(agent, mode, QUESTION)
    await edit(agent, mode, {"messages": [reply("c", "d")]})
    result = await run(agent, mode)
    while agent.get_state(THREAD).next:
        result = await run(agent, mode)

    assert sorted(texts(result)[2:]) == ["done", "found c", "found d"]
    assert result["tool_call_counts"] == {"look_up": 2}


@both
async def test_a_call_answered_by_an_edit_does_not_run(mode: str) -> None:
    agent = agent_of(reply("rome"), "done", interrupt_before=["tools"])
    await run(agent, mode, QUESTION)
    await edit(agent, mode, {"messages": [ToolMessage("by hand", tool_call_id="c0")]})

    assert texts(await run(agent, mode)) == ["Go", "", "by hand", "done"]


@both
async def test_a_call_removed_by_an_edit_does_not_run(mode: str) -> None:
    agent = agent_of(reply("rome"), "done", interrupt_before=["tools"])
    await run(agent, mode, QUESTION)
    await edit(agent, mode, {"messages": [RemoveMessage("reply")]})

    assert "found rome" not in texts(await run(agent, mode))


@both
async def test_an_edit_before_the_first_reply_loses_nothing(mode: str) -> None:
    agent = agent_of("done", interrupt_before=["model"])
    await run(agent, mode, QUESTION)
    await edit(agent, mode, {"messages": [HumanMessage("at once")]})

    assert texts(await run(agent, mode)) == ["Go", "at once", "done"]


@both
async def test_a_hook_that_waits_asks_again_and_the_model_does_not_answer_twice(mode: str) -> None:
    @after_model
    def review(_state: AgentState) -> None:
        interrupt("All right?")

    agent = agent_of("first", "second", middleware=[review])
    await run(agent, mode, QUESTION)
    await edit(agent, mode, {"messages": [HumanMessage("and quickly")]})
    asked = await run(agent, mode)
    result = await run(agent, mode, Command(resume="yes"))

    assert [i.value for i in asked["__interrupt__"]] == ["All right?"]
    assert texts(result) == ["Go", "first", "and quickly"]


@both
async def test_an_edited_call_is_the_one_that_is_reviewed(mode: str) -> None:
    guard = HumanInTheLoopMiddleware({"look_up": True})
    agent = agent_of(reply("rome"), "done", middleware=[guard])
    await run(agent, mode, QUESTION)
    await edit(agent, mode, {"messages": [reply("oslo")]})
    await run(agent, mode)

    assert [p.args for p in agent.pending(THREAD)] == [{"word": "oslo"}]
    result = agent.answer({"c0": {"type": "approve"}}, THREAD)
    assert texts(result)[2:] == ["found oslo", "done"]


@both
async def test_a_reply_put_into_an_ended_thread_runs_its_calls(mode: str) -> None:
    agent = agent_of("first", "second")
    await run(agent, mode, QUESTION)
    await edit(agent, mode, {"messages": [reply("oslo")]}, "model")

    assert texts(await run(agent, mode)) == ["Go", "first", "", "found oslo", "second"]


@both
async def test_a_result_put_into_a_thread_is_read_by_the_model(mode: str) -> None:
    agent = agent_of("first", "second")
    await run(agent, mode, QUESTION)
    await edit(agent, mode, {"messages": [reply("oslo")]}, "model")
    await edit(agent, mode, {"messages": [ToolMessage("by hand", tool_call_id="c0")]}, "tools")

    assert texts(await run(agent, mode)) == ["Go", "first", "", "by hand", "second"]


@both
async def test_a_thread_may_begin_with_a_reply_that_was_put_there(mode: str) -> None:
    agent = agent_of("first")
    await edit(agent, mode, {"messages": [HumanMessage("Go"), reply("oslo")]}, "model")

    assert texts(await run(agent, mode)) == ["Go", "", "found oslo", "first"]


@both
async def test_a_thread_may_begin_with_a_question_that_was_put_there(mode: str) -> None:
    agent = agent_of("first")
    await edit(agent, mode, QUESTION)

    assert texts(await run(agent, mode)) == ["Go", "first"]


@both
async def test_a_fork_of_the_past_goes_on_with_its_own_edit(mode: str) -> None:
    agent = agent_of(reply("rome"), "done", "again", interrupt_before=["tools"])
    await run(agent, mode, QUESTION)
    past = agent.get_state(THREAD).config
    await run(agent, mode)
    fork = agent.update_state(past, {"messages": [reply("oslo")]})
    result: Any = agent.invoke(None, fork)

    assert texts(result) == ["Go", "", "found oslo", "again"]


@both
async def test_an_answer_to_a_question_from_before_the_edit_is_refused(mode: str) -> None:
    guard = HumanInTheLoopMiddleware({"look_up": True})
    agent = agent_of(reply("rome"), "done", middleware=[guard])
    await run(agent, mode, QUESTION)
    await edit(agent, mode, {"messages": [reply("oslo")]})

    with pytest.raises(NotWaitingError, match="invoke it with None"):
        await run(agent, mode, Command(resume={"decisions": [{"type": "approve"}]}))


@both
async def test_an_edit_of_an_ended_thread_starts_nothing(mode: str) -> None:
    agent = agent_of("first")
    await run(agent, mode, QUESTION)
    await edit(agent, mode, {"messages": [HumanMessage("a note")]})

    assert agent.get_state(THREAD).next == ()
    assert texts(agent.get_state(THREAD).values) == ["Go", "first", "a note"]


@both
async def test_an_agent_inside_a_graph_is_edited_in_its_own_state(mode: str) -> None:
    inner = create_agent(
        ScriptedChatModel([reply("rome"), "done"]), [look_up], interrupt_before=["tools"]
    )
    outer: Any = StateGraph(AgentState).add_node("agent", inner).add_edge(START, "agent")
    graph = outer.compile(checkpointer=InMemorySaver())
    await run(graph, mode, QUESTION)
    config = graph.get_state(THREAD, subgraphs=True).tasks[0].state.config
    if mode == "ainvoke":
        await graph.aupdate_state(config, {"messages": [reply("oslo")]})
    else:
        graph.update_state(config, {"messages": [reply("oslo")]})

    assert texts(await run(graph, mode)) == ["Go", "", "found oslo", "done"]
