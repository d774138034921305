from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from interlock.graph import create_agent
from interlock.middleware import ToolRetryMiddleware
from interlock.state.errors import ConfigurationError

Run = Callable[..., Awaitable[dict[str, Any]]]
Scripted = Callable[..., Any]
Calling = Callable[..., AIMessage]


def _failing(times: int, error: Exception) -> tuple[BaseTool, list[str]]:
    """A tool that fails some times, and the ids of its calls."""
    calls: list[str] = []

    @tool
    def look_up(key: str) -> str:
        """Look up a key."""
        calls.append(key)
        if len(calls) <= times:
            raise error
        return f"value of {key}"

    return look_up, calls


async def test_failed_call_is_made_again(run: Run, scripted: Scripted, calling: Calling) -> None:
    look_up, calls = _failing(2, TimeoutError())
    model = scripted(calling(("look_up", {"key": "a"})), "done")
    agent = create_agent(model, [look_up], middleware=[ToolRetryMiddleware(initial_delay=0)])
    result = await run(agent, {"messages": "hi"})
    assert (len(calls), result["messages"][2].text) == (3, "value of a")
    assert result["tool_call_counts"] == {"look_up": 1}


async def test_last_failure_answers_the_call_without_keys(
    run: Run, scripted: Scripted, calling: Calling
) -> None:
    look_up, calls = _failing(9, ConnectionError("password=hunter2hunter2"))
    model = scripted(calling(("look_up", {"key": "a"})), "done")
    retry = ToolRetryMiddleware(max_retries=1, initial_delay=0)
    result = await run(create_agent(model, [look_up], middleware=[retry]), {"messages": "hi"})
    answer = result["messages"][2]
    assert (answer.status, answer.tool_call_id, len(calls)) == ("error", "c1", 2)
    assert "failed after 2 attempts with ConnectionError" in answer.text
    assert "hunter2" not in answer.text


async def test_tool_that_is_not_named_is_not_run_again(
    run: Run, scripted: Scripted, calling: Calling
) -> None:
    look_up, calls = _failing(1, TimeoutError())
    model = scripted(calling(("look_up", {"key": "a"})), "done")
    agent = create_agent(model, [look_up], middleware=[ToolRetryMiddleware(tools=["other"])])
    await run(agent, {"messages": "hi"})
    assert len(calls) == 1


async def test_failure_can_be_raised(run: Run, scripted: Scripted, calling: Calling) -> None:
    look_up, _ = _failing(9, TimeoutError("slow"))
    model = scripted(calling(("look_up", {"key": "a"})), "done")
    retry = ToolRetryMiddleware(max_retries=0, on_failure="error")
    agent = create_agent(model, [look_up], middleware=[retry], on_tool_error="raise")
    with pytest.raises(TimeoutError, match="slow"):
        await run(agent, {"messages": "hi"})


async def test_tool_that_asks_a_person_is_not_run_again(
    run: Run, scripted: Scripted, calling: Calling
) -> None:
    asked: list[str] = []

    @tool
    def ask(question: str) -> str:
        """Ask a person."""
        asked.append(question)
        return str(interrupt(question))

    model = scripted(calling(("ask", {"question": "ok?"})), "done")
    agent = create_agent(
        model, [ask], middleware=[ToolRetryMiddleware()], checkpointer=InMemorySaver()
    )
    config = {"configurable": {"thread_id": "t"}}
    await run(agent, {"messages": "hi"}, config)
    assert asked == ["ok?"]
    result = await run(agent, Command(resume="yes"), config)
    assert result["messages"][2].text == "yes"


@pytest.mark.parametrize(("old", "new"), [("raise", "error"), ("return_message", "continue")])
def test_old_word_is_taken_with_a_warning(old: Any, new: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"use on_failure='{new}'"):
        assert ToolRetryMiddleware(on_failure=old).on_failure == new


def test_single_name_instead_of_a_list_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="give a list"):
        ToolRetryMiddleware(tools="look_up")
