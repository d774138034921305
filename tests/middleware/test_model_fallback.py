from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langgraph.errors import GraphInterrupt

from interlock.graph import create_agent
from interlock.middleware import ModelFallbackMiddleware
from interlock.state.errors import ConfigurationError

Run = Callable[..., Awaitable[dict[str, Any]]]
Scripted = Callable[..., Any]


async def test_first_model_that_answers_is_used(run: Run, scripted: Scripted) -> None:
    down, up, spare = scripted(ConnectionError()), scripted("answer"), scripted("unused")
    agent = create_agent(
        scripted(ValueError()), middleware=[ModelFallbackMiddleware(down, up, spare)]
    )
    result = await run(agent, {"messages": "hi"})
    assert result["messages"][-1].text == "answer"
    assert (down.calls, up.calls, spare.calls) == (1, 1, 0)


async def test_fallback_is_asked_with_the_same_tools(run: Run, scripted: Scripted) -> None:
    def look_up(key: str) -> str:
        """Look up a key."""
        return key

    spare = scripted("answer")
    agent = create_agent(
        scripted(ValueError()), [look_up], middleware=[ModelFallbackMiddleware(spare)]
    )
    await run(agent, {"messages": "hi"})
    assert [t.name for t in spare.options[0]["tools"]] == ["look_up"]


async def test_last_error_is_raised_with_the_earlier_ones(run: Run, scripted: Scripted) -> None:
    fallback = ModelFallbackMiddleware(scripted(KeyError("second")))
    agent = create_agent(scripted(ValueError("first")), middleware=[fallback])
    with pytest.raises(KeyError, match="second") as caught:
        await run(agent, {"messages": "hi"})
    assert "Model 1 failed before with ValueError: first" in caught.value.__notes__


def test_interrupt_is_no_failure(scripted: Scripted) -> None:
    def pause(_request: Any) -> Any:
        raise GraphInterrupt

    request: Any = None
    with pytest.raises(GraphInterrupt):
        ModelFallbackMiddleware(scripted("x")).wrap_model_call(request, pause)


def test_something_else_than_a_model_is_refused() -> None:
    not_a_model: Any = {"model": "gpt"}
    with pytest.raises(ConfigurationError, match="A fallback model is"):
        ModelFallbackMiddleware(not_a_model)
