"""How calls are run: failures, order, limits, layers."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import pytest
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import ToolException, tool
from langgraph.runtime import Runtime

from interlock.state.errors import ConfigurationError, ToolExecutionError, WouldBlockError
from interlock.tools import (
    InjectedState,
    ToolExecutor,
    ToolPolicy,
    collect_tools,
)
from interlock.tools.calls import BLOCKING, run_inline
from interlock.tools.execution import RunContext
from interlock.tools.layers import Layer
from interlock.tools.results import CallResult

STATE = {"messages": ["m"], "cart": ["pen"], "token": "tok-93f1-private"}
KEYS = frozenset({"messages", "cart", "token"})

Execute = Callable[..., Awaitable[list[CallResult]]]


def call(name: str, args: dict[str, Any], ident: str = "c1") -> Any:
    return {"name": name, "args": args, "id": ident, "type": "tool_call"}


async def test_failures_show_no_secret_and_no_path(execute: Execute) -> None:
    @tool
    def leak(token: Annotated[str, InjectedState("token")]) -> str:
        """Leak."""
        msg = f"{token} sk-abcdefghijklmnop /home/me/secret/file.txt"
        raise OSError(msg)

    (result,) = await execute([leak], call("leak", {}))
    assert result.message.text == "Tool 'leak' failed: OSError: [hidden] [hidden] [path]"


@pytest.mark.parametrize("observed", [False, True])
@pytest.mark.parametrize(
    ("handle", "text"), [(True, "no such key"), ("sorry", "sorry"), (str, "no such key")]
)
async def test_a_tools_own_error_handling_is_used(
    execute: Execute, handle: Any, text: str, observed: bool
) -> None:
    @tool
    def look() -> str:
        """Look."""
        msg = "no such key"
        raise ToolException(msg)

    look.handle_tool_error = handle
    (result,) = await execute([look], call("look", {}), observed=observed)
    assert (result.message.text, result.message.status) == (text, "error")


async def test_raised_failures_and_unknown_tools_leave_the_executor_if_asked(
    execute: Execute,
) -> None:
    @tool
    def fail() -> str:
        """Fail."""
        msg = "broken"
        raise LookupError(msg)

    policy = ToolPolicy(on_error="raise")
    with pytest.raises(LookupError, match="broken"):
        await execute([fail], call("fail", {}), policy=policy)
    with pytest.raises(ToolExecutionError, match="'nope'"):
        await execute([fail], call("nope", {}), policy=policy)


@pytest.mark.parametrize("signal", [KeyboardInterrupt, SystemExit])
async def test_signals_to_the_program_pass(execute: Execute, signal: Any) -> None:
    @tool
    def stop() -> str:
        """Stop."""
        raise signal

    with pytest.raises(signal):
        await execute([stop], call("stop", {}))


async def test_results_keep_the_order_of_the_calls(execute: Execute) -> None:
    first = threading.Event()

    @tool
    def slow() -> str:
        """Wait for the quick one."""
        return str(first.wait(10))

    @tool
    def quick() -> str:
        """Let the slow one go."""
        first.set()
        return "quick"

    results = await execute([slow, quick], call("slow", {}, "a"), call("quick", {}, "b"))
    assert [r.message.text for r in results] == ["True", "quick"]


async def test_no_more_calls_run_at_once_than_allowed(execute: Execute) -> None:
    running: list[int] = []
    most: list[int] = []
    lock = threading.Lock()

    @tool
    def work() -> str:
        """Work."""
        with lock:
            running.append(1)
            most.append(len(running))
        with lock:
            running.pop()
        return "x"

    calls = [call("work", {}, f"c{n}") for n in range(20)]
    await execute([work], *calls, policy=ToolPolicy(concurrency_limit=1))
    assert max(most) == 1


@pytest.mark.parametrize("limit", [0, -3, 1.5, "4", True])
def test_a_limit_is_a_whole_number_from_one_on(limit: Any) -> None:
    with pytest.raises(ConfigurationError, match="tool_concurrency_limit"):
        ToolPolicy(concurrency_limit=limit)


async def test_layers_wrap_in_order_and_see_a_message_or_a_command(execute: Execute) -> None:
    log: list[str] = []

    def layer(name: str) -> Layer:
        def wrap(request: Any, handler: Any) -> Any:
            log.append(f"{name}>")
            result = handler(request)
            log.append(f"<{name}:{type(result).__name__}")
            return result

        return Layer(name, sync=wrap)

    @tool
    def add() -> Any:
        """Add."""
        return {"cart": ["ink"]}

    (result,) = await execute([add], call("add", {}), wraps=[layer("a"), layer("b")])
    assert log == ["a>", "b>", "<b:Command", "<a:Command"]
    assert result.updates == [{"cart": ["ink"], "messages": []}]


async def test_a_layer_may_call_several_times_or_not_at_all(execute: Execute) -> None:
    ran: list[int] = []

    @tool
    def flaky() -> str:
        """Fail once."""
        ran.append(1)
        if len(ran) == 1:
            raise OSError
        return "second"

    async def retry(request: Any, handler: Any) -> Any:
        try:
            return await handler(request)
        except OSError:
            return await handler(request)

    (result,) = await execute(
        [flaky], call("flaky", {}), wraps=[Layer("retry", asynchronous=retry)]
    )
    assert result.message.text == "second"


async def test_a_layer_that_returns_nothing_usable_is_an_error(execute: Execute) -> None:
    @tool
    def give() -> str:
        """Give."""
        return "x"

    def nothing(_request: Any, _handler: Any) -> None:
        """Return nothing."""

    wraps = [Layer("bad", sync=nothing)]
    (result,) = await execute([give], call("give", {}), wraps=wraps)
    assert result.message.status == "error"
    assert "NoneType" in result.message.text


def test_an_asynchronous_tool_in_a_synchronous_run_is_the_callers_mistake() -> None:
    @tool
    async def fetch() -> str:
        """Fetch."""
        return "page"

    executor = ToolExecutor(collect_tools([("the test", [fetch])]))
    runtime: Any = Runtime()
    for observed in (False, True):
        context = RunContext(BLOCKING, RunnableConfig(), runtime, observed)
        _, errors = run_inline(executor.run_many([call("fetch", {})], STATE, context))
        assert isinstance(errors[0], WouldBlockError)
        assert "'fetch'" in str(errors[0])


def test_too_many_calls_are_answered_and_not_run() -> None:
    executor = ToolExecutor(collect_tools([]), (), ToolPolicy(max_calls=2))
    refused = executor.refused([call("x", {}, f"c{n}") for n in range(5)])
    assert [r.message.tool_call_id for r in refused] == ["c2", "c3", "c4"]
