from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from interlock.graph import create_agent
from interlock.middleware import (
    ToolCallLimitExceededError,
    ToolCallLimitMiddleware,
    before_tools,
)
from interlock.state.errors import ConfigurationError
from interlock.state.history import pending_calls

Run = Callable[..., Awaitable[dict[str, Any]]]
Scripted = Callable[..., Any]
Calling = Callable[..., AIMessage]

THREAD = {"configurable": {"thread_id": "t"}}


def look(key: str) -> str:
    """Look up a key."""
    return f"value of {key}"


def ask() -> str:
    """Ask a person."""
    return str(interrupt("go on?"))


def _answers(result: dict[str, Any]) -> list[tuple[str, str]]:
    return [(m.tool_call_id, m.status) for m in result["messages"] if isinstance(m, ToolMessage)]


async def test_calls_beyond_the_limit_are_answered_and_the_rest_runs(
    run: Run, scripted: Scripted, calling: Calling
) -> None:
    model = scripted(calling(*[("look", {"key": k}) for k in "abc"]), "done")
    agent = create_agent(model, [look], middleware=[ToolCallLimitMiddleware(run_limit=1)])
    result = await run(agent, {"messages": "hi"})
    assert dict(_answers(result)) == {"c1": "success", "c2": "error", "c3": "error"}
    assert (result["exit_reason"], result["tool_call_counts"]) == ("text", {"look": 1})


async def test_end_answers_every_call_and_keeps_the_thread_usable(
    run: Run, scripted: Scripted, calling: Calling
) -> None:
    model = scripted(calling(*[("look", {"key": k}) for k in "abc"]), "second")
    limit = ToolCallLimitMiddleware(run_limit=1, exit_behavior="end")
    agent = create_agent(model, [look], middleware=[limit], checkpointer=InMemorySaver())
    result = await run(agent, {"messages": "hi"}, THREAD)
    assert _answers(result) == [("c1", "error"), ("c2", "error"), ("c3", "error")]
    assert result["exit_reason"] == "tool_call_limit"
    assert "run limit exceeded (3/1 calls)" in result["messages"][-1].text
    assert (await run(agent, {"messages": "on"}, THREAD))["messages"][-1].text == "second"


async def test_error_counts_the_refused_calls(
    run: Run, scripted: Scripted, calling: Calling
) -> None:
    limit = ToolCallLimitMiddleware(tool_name="look", run_limit=1, exit_behavior="error")
    model = scripted(calling(("look", {"key": "a"}), ("look", {"key": "b"})))
    with pytest.raises(ToolCallLimitExceededError, match="'look' tool call limit") as caught:
        await run(create_agent(model, [look], middleware=[limit]), {"messages": "hi"})
    assert (caught.value.run_count, caught.value.tool_name) == (2, "look")


async def test_run_limit_survives_pauses(run: Run, scripted: Scripted, calling: Calling) -> None:
    replies = [calling(("ask", {}), start=n) for n in range(1, 5)]
    limit = ToolCallLimitMiddleware(run_limit=2, exit_behavior="end")
    agent = create_agent(
        scripted(*replies), [ask], middleware=[limit], checkpointer=InMemorySaver()
    )
    await run(agent, {"messages": "hi"}, THREAD)
    await run(agent, Command(resume="yes"), THREAD)
    result = await run(agent, Command(resume="yes"), THREAD)
    assert result["exit_reason"] == "tool_call_limit"
    assert [status for _, status in _answers(result)] == ["success", "success", "error"]


async def test_thread_limit_counts_all_runs(run: Run, scripted: Scripted, calling: Calling) -> None:
    reply = calling(("look", {"key": "a"}))
    model = scripted(reply, "one", reply, "two", reply, "three")
    limit = ToolCallLimitMiddleware(tool_name="look", thread_limit=2)
    agent = create_agent(model, [look], middleware=[limit], checkpointer=InMemorySaver())
    runs = [await run(agent, {"messages": "hi"}, THREAD) for _ in range(3)]
    assert [status for _, status in _answers(runs[-1])] == ["success", "success", "error"]


async def test_two_limits_of_one_tool_do_not_count_twice(
    run: Run, scripted: Scripted, calling: Calling
) -> None:
    model = scripted(*[calling(("look", {"key": "a"}), start=n) for n in range(1, 4)], "done")
    limits = [ToolCallLimitMiddleware(thread_limit=n, run_limit=2) for n in (2, 3)]
    agent = create_agent(model, [look], middleware=limits, checkpointer=InMemorySaver())
    result = await run(agent, {"messages": "hi"}, THREAD)
    assert _answers(result) == [("c1", "success"), ("c2", "success"), ("c3", "error")]


async def test_rejected_call_does_not_use_up_the_limit(
    run: Run, scripted: Scripted, calling: Calling
) -> None:
    @before_tools
    def reject_secrets(state: Any) -> dict[str, Any] | None:
        calls = [c for c in pending_calls(state["messages"]) if c["args"]["key"] == "secret"]
        answers = [ToolMessage("no", tool_call_id=c["id"], status="error") for c in calls]
        return {"messages": answers} if answers else None

    model = scripted(
        calling(("look", {"key": "secret"})), calling(("look", {"key": "a"}), start=2), "done"
    )
    guards = [ToolCallLimitMiddleware(thread_limit=1), reject_secrets]
    agent = create_agent(model, [look], middleware=guards, checkpointer=InMemorySaver())
    result = await run(agent, {"messages": "hi"}, THREAD)
    assert _answers(result) == [("c1", "error"), ("c2", "success")]


async def test_other_tools_are_not_limited(run: Run, scripted: Scripted, calling: Calling) -> None:
    model = scripted(calling(("look", {"key": "a"}), ("look", {"key": "b"})), "done")
    limit = ToolCallLimitMiddleware(tool_name="ask", run_limit=0)
    result = await run(create_agent(model, [look, ask], middleware=[limit]), {"messages": "hi"})
    assert [status for _, status in _answers(result)] == ["success", "success"]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "At least one limit"),
        ({"run_limit": 1.5}, "run_limit is 1.5"),
        ({"run_limit": 5, "thread_limit": 3}, "cannot exceed thread_limit"),
        ({"run_limit": 1, "exit_behavior": "stop"}, "Invalid exit_behavior"),
    ],
)
def test_wrong_setting_is_named(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        ToolCallLimitMiddleware(**settings)
