from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.errors import GraphInterrupt
from langgraph.prebuilt.tool_node import ToolCallRequest

from interlock.graph import create_agent
from interlock.middleware import ToolErrorMiddleware
from interlock.state.errors import ConfigurationError
from interlock.state.fatal import is_fatal

Run = Callable[..., Awaitable[dict[str, Any]]]
Scripted = Callable[..., Any]
Calling = Callable[..., AIMessage]


def pay(amount: int) -> str:
    """Pay an amount."""
    msg = f"account 4711 refuses {amount}"
    raise PermissionError(msg)


def say(error: Exception, request: ToolCallRequest) -> str:
    return f"{request.tool_call['name']}: {type(error).__name__}"


def _request() -> ToolCallRequest:
    call: Any = {"name": "pay", "args": {}, "id": "c1", "type": "tool_call"}
    runtime: Any = None
    return ToolCallRequest(tool_call=call, tool=None, state={}, runtime=runtime)


async def test_model_reads_what_the_function_says(
    run: Run, scripted: Scripted, calling: Calling
) -> None:
    model = scripted(calling(("pay", {"amount": 3})), "done")
    agent = create_agent(model, [pay], middleware=[ToolErrorMiddleware(say)])
    answer = (await run(agent, {"messages": "hi"}))["messages"][2]
    assert (answer.text, answer.status) == ("pay: PermissionError", "error")


async def test_asynchronous_function_is_used_in_both_modes(
    run: Run, scripted: Scripted, calling: Calling
) -> None:
    async def later(error: Exception, request: ToolCallRequest) -> str:
        return f"later {say(error, request)}"

    model = scripted(calling(("pay", {"amount": 3})), "done")
    agent = create_agent(model, [pay], middleware=[ToolErrorMiddleware(aon_error=later)])
    answer = (await run(agent, {"messages": "hi"}))["messages"][2]
    assert answer.text == "later pay: PermissionError"


async def test_other_tool_is_left_to_the_agent(
    run: Run, scripted: Scripted, calling: Calling
) -> None:
    model = scripted(calling(("pay", {"amount": 3})), "done")
    agent = create_agent(model, [pay], middleware=[ToolErrorMiddleware(say, tools=["other"])])
    answer = (await run(agent, {"messages": "hi"}))["messages"][2]
    assert answer.text.startswith("Tool 'pay' failed")


def test_error_without_an_answer_ends_the_run() -> None:
    def fail(_request: ToolCallRequest) -> Any:
        raise KeyError

    guard = ToolErrorMiddleware(lambda _error, _request: None)
    with pytest.raises(KeyError) as caught:
        guard.wrap_tool_call(_request(), fail)
    assert is_fatal(caught.value)


def test_interrupt_is_no_failure() -> None:
    def pause(_request: ToolCallRequest) -> Any:
        raise GraphInterrupt

    with pytest.raises(GraphInterrupt):
        ToolErrorMiddleware(say).wrap_tool_call(_request(), pause)


def test_function_is_needed() -> None:
    with pytest.raises(ConfigurationError, match="on_error or aon_error"):
        ToolErrorMiddleware()
