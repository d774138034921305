"""The loop of an ``Agent``: what a step is, what is counted when, and what comes in which order."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver

from interlock.graph import Agent
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import AgentMiddleware, HistoryWindowMiddleware
from interlock.tools import tool

POINTS = ("before_run", "before_llm", "before_tool", "after_tool", "on_exit", "after_run")


@tool
def search(query: str) -> str:
    """Search."""
    return f"about {query}"


def usage(total: int) -> Any:
    return {"input_tokens": total - 1, "output_tokens": 1, "total_tokens": total}


class Trace:
    """A hook for every point: keeps where it was called and what it could see."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, Any]] = []

    def hooks(self) -> dict[str, Any]:
        return {point: [self.at(point)] for point in POINTS}

    def at(self, point: str) -> Any:
        keys = ("step_count", "tool_call_counts", "exit_reason", "context_tokens")

        def look(state: Any) -> None:
            self.seen.append((point, tuple(state.get(key) for key in keys)))

        return look


class Around(AgentMiddleware):
    """Notes when the model and the tools are called."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        self.trace.seen.append(("llm", None))
        return handler(request)

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        self.trace.seen.append(("tool", None))
        return handler(request)


def two_steps(calling: Any) -> list[Any]:
    first = calling(("search", {"query": "a"}), ("search", {"query": "b"}))
    return [
        first.model_copy(update={"usage_metadata": usage(10)}),
        AIMessage("ok", usage_metadata=usage(7)),
    ]


async def test_a_run_passes_its_points_in_order(run_agent: Any, calling: Any) -> None:
    trace = Trace()
    agent = Agent(
        model=ScriptedChatModel(two_steps(calling)),
        tools=[search],
        middleware=[Around(trace)],
        hooks=trace.hooks(),
    )
    await run_agent(agent, "go")
    assert [point for point, _ in trace.seen] == [
        *("before_run", "before_llm", "llm", "before_tool", "tool", "tool", "after_tool"),
        *("before_llm", "llm", "on_exit", "after_run"),
    ]


async def test_counters_begin_at_zero_and_grow_where_a_step_ends(
    run_agent: Any, calling: Any
) -> None:
    trace = Trace()
    agent = Agent(model=ScriptedChatModel(two_steps(calling)), tools=[search], hooks=trace.hooks())
    result = await run_agent(agent, "go")
    assert trace.seen == [
        ("before_run", (0, {}, None, 0)),
        ("before_llm", (0, {}, None, 0)),
        ("before_tool", (0, {}, None, 10)),
        ("after_tool", (0, {"search": 2}, None, 10)),
        ("before_llm", (1, {"search": 2}, None, 10)),
        ("on_exit", (2, {"search": 2}, "text", 7)),
        ("after_run", (2, {"search": 2}, "text", 7)),
    ]
    assert (result["step_count"], result["token_usage"]["total_tokens"]) == (2, 17)


async def test_a_step_is_one_reply_and_all_its_calls(run_agent: Any, calling: Any) -> None:
    model = ScriptedChatModel(two_steps(calling))
    result = await run_agent(Agent(model=model, tools=[search], max_agent_steps=1), "go")
    assert (result["step_count"], result["tool_call_counts"]) == (1, {"search": 2})
    assert (result["exit_reason"], model.calls) == ("max_agent_steps", 1)


async def test_a_step_that_ends_the_run_at_the_limit_keeps_its_own_reason(
    run_agent: Any, calling: Any
) -> None:
    agent = Agent(
        model=ScriptedChatModel([calling(("search", {"query": "a"}))]),
        tools=[search],
        exit_conditions=["search"],
        max_agent_steps=1,
    )
    assert (await run_agent(agent, "go"))["exit_reason"] == "search"


async def test_a_run_takes_a_hundred_steps_if_nothing_else_is_said(
    run_agent: Any, calling: Any
) -> None:
    model = ScriptedChatModel([calling(("search", {"query": "a"}))], repeat_last=True)
    result = await run_agent(Agent(model=model, tools=[search]), "go")
    assert (result["step_count"], result["exit_reason"]) == (100, "max_agent_steps")


@pytest.mark.parametrize("tools", [None, [search]])
async def test_the_last_message_is_in_every_result(run_agent: Any, tools: Any) -> None:
    result = await run_agent(Agent(model=ScriptedChatModel(["ok"]), tools=tools), "go")
    assert result["last_message"] is result["messages"][-1]
    assert result["exit_message"] == result["last_message"].id


async def test_a_thread_is_the_store_of_its_messages(run_agent: Any) -> None:
    model = ScriptedChatModel(["one", "two", "three"])
    agent = Agent(
        model=model,
        system_prompt="Be brief.",
        checkpointer=InMemorySaver(),
        middleware=[HistoryWindowMiddleware(1)],
    )
    for text in ("a", "b"):
        await run_agent(agent, text, thread_id="t")
    result = await run_agent(agent, "c", thread_id="t")
    assert [m.text for m in result["messages"]] == ["a", "one", "b", "two", "c", "three"]
    assert model.requests[2][0].text == "Be brief."
    assert "one" not in [m.text for m in model.requests[2]]
