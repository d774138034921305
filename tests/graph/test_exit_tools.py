"""Tools that end a run: what their call names, what undoes it, and what is told of it."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import (
    ToolMessage,
)
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

from interlock.graph import AgentState, create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import AgentMiddleware
from interlock.tools import tool


@tool
def search(query: str) -> str:
    """Search."""
    return f"about {query}"


@tool
def finish(answer: str) -> str:
    """Hand in the answer."""
    if answer == "wrong":
        msg = "not accepted"
        raise ValueError(msg)
    return f"final: {answer}"


def message_of(result: dict[str, Any]) -> Any:
    """The message that ended the run."""
    return next(m for m in result["messages"] if m.id == result["exit_message"])


async def test_an_exit_tool_names_the_reason_and_its_result_is_the_exit_message(
    run: Any, calling: Any
) -> None:
    script = [calling(("finish", {"answer": "42"}), ("search", {"query": "a"}))]
    agent = create_agent(ScriptedChatModel(script), [search, finish], exit_conditions=["finish"])
    result = await run(agent, {"messages": "go"})
    assert result["exit_reason"] == "finish"
    assert message_of(result).content == "final: 42"
    assert result["last_message"].content == "about a"


async def test_of_two_exit_tools_the_first_call_names_the_reason(run: Any, calling: Any) -> None:
    script = [calling(("search", {"query": "a"}), ("finish", {"answer": "42"}))]
    agent = create_agent(
        ScriptedChatModel(script), [finish, search], exit_conditions=["finish", "search"]
    )
    assert (await run(agent, {"messages": "go"}))["exit_reason"] == "search"


@pytest.mark.parametrize("other", [("search", {"query": "a"}), ("finish", {"answer": "42"})])
async def test_a_failed_exit_tool_vetoes_the_exit(run: Any, calling: Any, other: Any) -> None:
    script = [calling(other, ("finish", {"answer": "wrong"})), "sorry"]
    model = ScriptedChatModel(script)
    agent = create_agent(model, [search, finish], exit_conditions=["text", "finish", "search"])
    assert (await run(agent, {"messages": "go"}))["exit_reason"] == "text"
    assert model.calls == 2


async def test_a_hook_that_hides_a_failure_does_not_undo_the_veto(run: Any, calling: Any) -> None:
    class Hides(AgentMiddleware[Any, Any, Any]):
        def after_tools(self, state: Any, runtime: Any) -> dict[str, Any]:  # noqa: ARG002
            last = state["messages"][-1]
            return {"messages": [last.model_copy(update={"status": "success", "content": "ok"})]}

    model = ScriptedChatModel([calling(("finish", {"answer": "wrong"})), "sorry"])
    agent = create_agent(model, [finish], middleware=[Hides()], exit_conditions=["text", "finish"])
    assert (await run(agent, {"messages": "go"}))["exit_reason"] == "text"


async def test_a_hook_that_takes_the_exit_call_away_keeps_the_run_going(
    run: Any, calling: Any
) -> None:
    class Takes(AgentMiddleware[Any, Any, Any]):
        def before_tools(self, state: Any, runtime: Any) -> dict[str, Any]:  # noqa: ARG002
            call = state["messages"][-1].tool_calls[0]
            answer = ToolMessage("not now", tool_call_id=call["id"], name=call["name"])
            return {"messages": [answer]}

    model = ScriptedChatModel([calling(("finish", {"answer": "42"})), "then not"])
    agent = create_agent(model, [finish], middleware=[Takes()], exit_conditions=["text", "finish"])
    result = await run(agent, {"messages": "go"})
    assert (result["exit_reason"], result["tool_call_counts"]) == ("text", {})


async def test_without_text_as_condition_the_model_is_asked_on_up_to_the_limit(
    run: Any, calling: Any
) -> None:
    model = ScriptedChatModel(["I think 42", calling(("finish", {"answer": "42"}))])
    agent = create_agent(model, [finish], exit_conditions=["finish"])
    assert (await run(agent, {"messages": "go"}))["exit_reason"] == "finish"
    talker = ScriptedChatModel(["I think"] * 3)
    agent = create_agent(talker, [finish], exit_conditions=["finish"], max_agent_steps=3)
    result = await run(agent, {"messages": "go"})
    assert (result["exit_reason"], talker.calls) == ("max_agent_steps", 3)


async def test_a_pause_in_the_first_hook_after_the_tools_does_not_forget_the_exit(
    run: Any, calling: Any, thread: Any
) -> None:
    class Asks(AgentMiddleware[Any, Any, Any]):
        def after_tools(self, state: Any, runtime: Any) -> None:  # noqa: ARG002
            interrupt("fine?")

    agent = create_agent(
        ScriptedChatModel([calling(("finish", {"answer": "42"}))]),
        [finish],
        middleware=[Asks()],
        checkpointer=InMemorySaver(),
        exit_conditions=["finish"],
    )
    await run(agent, {"messages": "go"}, thread)
    (asked,) = agent.get_state(thread).interrupts
    result = await run(agent, Command(resume={asked.id: "yes"}), thread)
    assert result["exit_reason"] == "finish"


async def test_a_reply_that_ends_the_run_at_the_limit_keeps_its_reason(
    run: Any, calling: Any
) -> None:
    agent = create_agent(ScriptedChatModel(["done"]), [finish], max_agent_steps=1)
    assert (await run(agent, {"messages": "go"}))["exit_reason"] == "text"
    script = [calling(("finish", {"answer": "42"}))]
    agent = create_agent(
        ScriptedChatModel(script), [finish], max_agent_steps=1, exit_conditions=["finish"]
    )
    assert (await run(agent, {"messages": "go"}))["exit_reason"] == "finish"


async def test_a_larger_graph_routes_by_the_exit_reason(run: Any, calling: Any) -> None:
    class Outer(AgentState[Any]):
        exit_reason: str
        route: str

    def other(_state: Any) -> dict[str, str]:
        return {"route": "other"}

    def saved(_state: Any) -> dict[str, str]:
        return {"route": "saved"}

    def route(state: Any) -> str:
        return "saved" if state["exit_reason"] == "finish" else "other"

    script = [calling(("finish", {"answer": "42"}))]
    agent = create_agent(ScriptedChatModel(script), [finish], exit_conditions=["finish"])
    graph: Any = StateGraph(Outer)
    graph.add_node("agent", agent)
    graph.add_node("other", other)
    graph.add_node("saved", saved)
    graph.add_edge(START, "agent")
    graph.add_conditional_edges("agent", route)
    assert (await run(graph.compile(), {"messages": "go"}))["route"] == "saved"
