from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from interlock.graph import create_agent
from interlock.middleware import (
    ModelCallLimitExceededError,
    ModelCallLimitMiddleware,
    after_model,
)
from interlock.state.errors import ConfigurationError

Run = Callable[..., Awaitable[dict[str, Any]]]
Scripted = Callable[..., Any]
Calling = Callable[..., AIMessage]

THREAD = {"configurable": {"thread_id": "t"}}


def again() -> str:
    """Go on."""
    return "more"


def ask() -> str:
    """Ask a person."""
    return str(interrupt("go on?"))


async def test_run_ends_with_a_message_and_a_reason(
    run: Run, scripted: Scripted, calling: Calling
) -> None:
    model = scripted(calling(("again", {})))
    agent = create_agent(model, [again], middleware=[ModelCallLimitMiddleware(run_limit=2)])
    result = await run(agent, {"messages": "hi"})
    assert (model.calls, result["exit_reason"]) == (2, "model_call_limit")
    assert result["messages"][-1].text == "Model call limits exceeded: run limit (2/2)"


async def test_error_says_what_was_counted(run: Run, scripted: Scripted, calling: Calling) -> None:
    limit = ModelCallLimitMiddleware(run_limit=1, exit_behavior="error")
    agent = create_agent(scripted(calling(("again", {}))), [again], middleware=[limit])
    with pytest.raises(ModelCallLimitExceededError) as caught:
        await run(agent, {"messages": "hi"})
    assert (caught.value.run_count, caught.value.run_limit) == (1, 1)


async def test_run_limit_survives_pauses(run: Run, scripted: Scripted, calling: Calling) -> None:
    model = scripted(calling(("ask", {})))
    limit = ModelCallLimitMiddleware(run_limit=2)
    agent = create_agent(model, [ask], middleware=[limit], checkpointer=InMemorySaver())
    await run(agent, {"messages": "hi"}, THREAD)
    await run(agent, Command(resume="yes"), THREAD)
    result = await run(agent, Command(resume="yes"), THREAD)
    assert (model.calls, result["exit_reason"]) == (2, "model_call_limit")


async def test_run_limit_begins_anew_with_each_run(run: Run, scripted: Scripted) -> None:
    limit = ModelCallLimitMiddleware(run_limit=1)
    agent = create_agent(scripted("ok"), middleware=[limit], checkpointer=InMemorySaver())
    for _ in range(3):
        assert (await run(agent, {"messages": "hi"}, THREAD))["exit_reason"] == "text"


async def test_thread_limit_counts_all_runs(run: Run, scripted: Scripted, calling: Calling) -> None:
    model = scripted(calling(("again", {})), "one", "two", "three")
    limit = ModelCallLimitMiddleware(thread_limit=3)
    agent = create_agent(model, [again], middleware=[limit], checkpointer=InMemorySaver())
    reasons = [(await run(agent, {"messages": "hi"}, THREAD))["exit_reason"] for _ in range(3)]
    assert reasons == ["text", "text", "model_call_limit"]
    assert model.calls == 3


async def test_two_limits_do_not_count_twice(run: Run, scripted: Scripted) -> None:
    model = scripted("ok")
    limits = [ModelCallLimitMiddleware(thread_limit=n) for n in (3, 4)]
    agent = create_agent(model, middleware=limits, checkpointer=InMemorySaver())
    reasons = [(await run(agent, {"messages": "hi"}, THREAD))["exit_reason"] for _ in range(4)]
    assert reasons == ["text", "text", "text", "model_call_limit"]


async def test_hook_that_asks_again_does_not_escape_the_limit(run: Run, scripted: Scripted) -> None:
    @after_model
    def never_content(state: Any) -> dict[str, Any]:  # noqa: ARG001
        return {"jump_to": "model"}

    model = scripted("ok")
    guards = [ModelCallLimitMiddleware(thread_limit=3), never_content]
    result = await run(create_agent(model, middleware=guards), {"messages": "hi"})
    assert (model.calls, result["exit_reason"]) == (3, "model_call_limit")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "At least one limit"),
        ({"run_limit": -1}, "run_limit is -1"),
        ({"thread_limit": True}, "thread_limit is True"),
        ({"run_limit": 1, "exit_behavior": "continue"}, "Invalid exit_behavior"),
    ],
)
def test_wrong_setting_is_named(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        ModelCallLimitMiddleware(**settings)
