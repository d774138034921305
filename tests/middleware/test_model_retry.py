from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langgraph.errors import GraphInterrupt

from interlock.graph import create_agent
from interlock.middleware import ModelRetryMiddleware
from interlock.state.errors import ConfigurationError
from interlock.state.model_errors import ChatModelAuthenticationError, ChatModelServerError

Run = Callable[..., Awaitable[dict[str, Any]]]
Scripted = Callable[..., Any]


async def test_failed_call_is_made_again(run: Run, scripted: Scripted) -> None:
    model = scripted(ChatModelServerError("x"), ChatModelServerError("x"), "answer")
    agent = create_agent(model, middleware=[ModelRetryMiddleware(initial_delay=0)])
    result = await run(agent, {"messages": "hi"})
    assert (model.calls, result["messages"][-1].text) == (3, "answer")
    assert (result["exit_reason"], result["step_count"]) == ("text", 1)


async def test_failure_for_good_has_its_own_exit_reason(run: Run, scripted: Scripted) -> None:
    model = scripted(TimeoutError("token=abcdef123"))
    retry = ModelRetryMiddleware(max_retries=1, initial_delay=0)
    result = await run(create_agent(model, middleware=[retry]), {"messages": "hi"})
    assert result["exit_reason"] == "model_failed"
    text = result["messages"][-1].text
    assert text.startswith("Model call failed after 2 attempts with TimeoutError")
    assert "abcdef123" not in text


async def test_answer_about_the_failure_can_be_made(run: Run, scripted: Scripted) -> None:
    retry = ModelRetryMiddleware(max_retries=0, on_failure=lambda error: f"sorry: {error}")
    result = await run(
        create_agent(scripted(ValueError("x")), middleware=[retry]), {"messages": "hi"}
    )
    assert result["messages"][-1].text == "sorry: x"


async def test_failure_can_be_raised(run: Run, scripted: Scripted) -> None:
    model = scripted(ValueError("down"))
    retry = ModelRetryMiddleware(max_retries=1, initial_delay=0, on_failure="error")
    with pytest.raises(ValueError, match="down"):
        await run(create_agent(model, middleware=[retry]), {"messages": "hi"})
    assert model.calls == 2


async def test_error_of_a_lasting_kind_is_raised_at_once(run: Run, scripted: Scripted) -> None:
    model = scripted(ChatModelAuthenticationError("bad key"))
    agent = create_agent(model, middleware=[ModelRetryMiddleware()])
    with pytest.raises(ChatModelAuthenticationError):
        await run(agent, {"messages": "hi"})
    assert model.calls == 1


def test_interrupt_is_no_failure() -> None:
    def pause(_request: Any) -> Any:
        raise GraphInterrupt

    request: Any = None
    with pytest.raises(GraphInterrupt):
        ModelRetryMiddleware(initial_delay=0).wrap_model_call(request, pause)


def test_settings_are_checked_and_readable() -> None:
    retry = ModelRetryMiddleware(max_retries=4, jitter=False)
    assert (retry.max_retries, retry.jitter, retry.backoff_factor) == (4, False, 2.0)
    with pytest.raises(ConfigurationError, match="max_retries must be >= 0"):
        ModelRetryMiddleware(max_retries=-1)
