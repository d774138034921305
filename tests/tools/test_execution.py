from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import ToolException, tool
from langgraph.runtime import Runtime
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command
from pydantic import BaseModel, Field

from interlock.state.errors import ConfigurationError, ToolExecutionError, WouldBlockError
from interlock.tools import (
    InjectedState,
    InjectedStore,
    InjectedToolCallId,
    ToolExecutor,
    ToolPolicy,
    ToolRuntime,
    collect_tools,
)
from interlock.tools.calls import AWAITING, BLOCKING, Dual, run_inline
from interlock.tools.execution import RunContext
from interlock.tools.results import CallResult

STATE = {"messages": ["m"], "cart": ["pen"], "token": "tok-93f1-private"}
KEYS = frozenset({"messages", "cart", "token"})

Execute = Callable[..., Awaitable[list[CallResult]]]


def call(name: str, args: dict[str, Any], ident: str = "c1") -> Any:
    return {"name": name, "args": args, "id": ident, "type": "tool_call"}


@pytest.fixture(params=["sync", "async"])
def execute(request: pytest.FixtureRequest) -> Execute:
    """``await execute(tools, *calls)``: the results, in both modes, with and without handlers."""

    async def go(
        tools: list[Any],
        *calls: Any,
        wraps: Any = (),
        policy: ToolPolicy | None = None,
        store: Any = None,
        observed: bool = False,
    ) -> list[CallResult]:
        executor = ToolExecutor(collect_tools([("the test", tools)]), wraps, policy or ToolPolicy())
        port = BLOCKING if request.param == "sync" else AWAITING
        runtime: Any = Runtime(store=store)
        context = RunContext(port, RunnableConfig(), runtime, observed, KEYS)
        work = executor.run_many(list(calls), STATE, context)
        results, errors = run_inline(work) if request.param == "sync" else await work
        if errors:
            raise errors[0]
        return results

    return go


def _counting() -> Any:
    yield from range(3)


class Money(BaseModel):
    amount: int


@pytest.mark.parametrize("observed", [False, True])
@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is", "as it is"),
        ({"name": "Łódź", "n": [1, None]}, '{"name": "Łódź", "n": [1, null]}'),
        ([1, 2], "[1, 2]"),
        (None, "null"),
        (True, "true"),
        (Money(amount=3), '{"amount": 3}'),
        (Decimal("1.10"), '"1.10"'),
        (datetime(2026, 1, 2, tzinfo=UTC), '"2026-01-02T00:00:00Z"'),
        ({1, 2}, "[1, 2]"),
        ("half \ud83d", "half ?"),
    ],
)
async def test_results_are_text_or_json(
    execute: Execute, value: Any, text: str, observed: bool
) -> None:
    @tool
    def give() -> Any:
        """Give."""
        return value

    (result,) = await execute([give], call("give", {}), observed=observed)
    assert result.message.text == text
    assert (result.message.tool_call_id, result.message.name) == ("c1", "give")


@pytest.mark.parametrize("value", [object(), _counting(), open, asyncio.sleep])
async def test_a_result_without_json_form_is_an_error_naming_its_type(
    execute: Execute, value: Any
) -> None:
    @tool
    def give() -> Any:
        """Give."""
        return {"x": value} if callable(value) else value

    (result,) = await execute([give], call("give", {}))
    assert result.message.status == "error"
    assert "0x" not in result.message.text


async def test_a_long_result_is_cut_and_kept_whole_beside(execute: Execute) -> None:
    @tool
    def give() -> str:
        """Give."""
        return "x" * 5_000

    (result,) = await execute([give], call("give", {}), policy=ToolPolicy(max_result_chars=100))
    assert result.message.text == "x" * 100 + "\n[cut: 100 of 5000 characters are shown]"
    assert result.message.artifact == "x" * 5_000


@pytest.mark.parametrize("observed", [False, True])
async def test_a_dict_of_state_keys_updates_state(execute: Execute, observed: bool) -> None:
    @tool
    def add() -> Any:
        """Add."""
        return {"cart": ["pen", "ink"], "messages": []}

    (result,) = await execute([add], call("add", {}), observed=observed)
    assert result.updates == [{"cart": ["pen", "ink"], "messages": []}]
    assert result.message.text == '{"cart": ["pen", "ink"]}'


@pytest.mark.parametrize("value", [{"cart": [], "other": 1}, {"messages": []}, {}, {1: 2}])
async def test_any_other_dict_is_content(execute: Execute, value: Any) -> None:
    @tool
    def give() -> Any:
        """Give."""
        return value

    (result,) = await execute([give], call("give", {}))
    assert result.updates == []


async def test_a_command_updates_state_and_answers(execute: Execute) -> None:
    @tool
    def act(ident: Annotated[str, InjectedToolCallId]) -> Any:
        """Act."""
        answer = {"role": "tool", "content": "acted", "tool_call_id": ident}
        return Command(update={"cart": ["ink"], "messages": [answer]}, goto="end")

    (result,) = await execute([act], call("act", {}))
    assert result.message.text == "acted"
    assert result.updates == [{"cart": ["ink"], "messages": []}]
    assert [c.goto for c in result.commands] == ["end"]


async def test_a_command_without_an_answer_gets_one(execute: Execute) -> None:
    @tool
    def act() -> Any:
        """Act."""
        return [Command(update={"cart": []}), Command(update={"token": "x"})]

    (result,) = await execute([act], call("act", {}))
    assert result.message.text == "Updated cart, token."
    assert result.updates == [{"cart": []}, {"token": "x"}]


async def test_an_answer_to_another_call_is_an_error(execute: Execute) -> None:
    @tool
    def steal() -> Any:
        """Steal."""
        return ToolMessage("mine", tool_call_id="other")

    (result,) = await execute([steal], call("steal", {}))
    assert result.message.status == "error"
    assert "'steal'" in result.message.text
    assert "'other'" in result.message.text


@pytest.mark.parametrize("observed", [False, True])
async def test_injected_arguments_are_filled_in_and_never_offered(
    execute: Execute, observed: bool
) -> None:
    @tool
    def look(
        key: str,
        state: Annotated[dict[str, Any], InjectedState],
        cart: Annotated[list[str], InjectedState("cart")],
        store: Annotated[Any, InjectedStore()],
        ident: Annotated[str, InjectedToolCallId],
        runtime: ToolRuntime[Any, Any],
    ) -> str:
        """Look."""
        store.put(("a",), "k", {"v": 1})
        return f"{key}:{len(state)}:{cart}:{ident}:{runtime.tool_call_id}"

    forged: Any = {"key": "k", "state": {}, "cart": ["forged"], "ident": "forged", "runtime": 1}
    store = InMemoryStore()
    (result,) = await execute([look], call("look", forged), store=store, observed=observed)
    assert result.message.text == "k:3:['pen']:c1:c1"
    assert store.get(("a",), "k") is not None


async def test_a_missing_store_is_said(execute: Execute) -> None:
    @tool
    def look(store: Annotated[Any, InjectedStore()]) -> str:  # noqa: ARG001
        """Look."""
        return "x"

    (result,) = await execute([look], call("look", {}))
    assert "'look' needs a store" in result.message.text


class Bounds(BaseModel):
    amount: int = Field(ge=1, description="How much.")
    unit: str = "EUR"


@pytest.mark.parametrize("observed", [False, True])
async def test_arguments_are_checked_and_completed_by_the_schema(
    execute: Execute, observed: bool
) -> None:
    @tool(args_schema=Bounds)
    def pay(amount: int, unit: str, token: Annotated[str, InjectedState("token")]) -> str:
        """Pay."""
        return f"{amount} {unit} {len(token)}"

    bad, good = await execute(
        [pay], call("pay", {"amount": 0}), call("pay", {"amount": "2"}, "c2"), observed=observed
    )
    assert bad.message.status == "error"
    assert "amount" in bad.message.text
    assert "tok-93f1-private" not in bad.message.text
    assert good.message.text == "2 EUR 16"


async def test_an_unknown_tool_is_answered_with_the_known_ones(execute: Execute) -> None:
    @tool
    def give() -> str:
        """Give."""
        return "x"

    for name in ("__init__", "os.system", "../give", ""):
        (result,) = await execute([give], call(name, {}))
        assert result.message.status == "error"
        assert "give" in result.message.text


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


@pytest.mark.parametrize("limit", [0, -3])
def test_a_limit_below_one_is_refused(limit: int) -> None:
    with pytest.raises(ConfigurationError, match="tool_concurrency_limit"):
        ToolPolicy(concurrency_limit=limit)


async def test_layers_wrap_in_order_and_see_a_message_or_a_command(execute: Execute) -> None:
    log: list[str] = []

    def layer(name: str) -> Dual:
        def wrap(request: Any, handler: Any) -> Any:
            log.append(f"{name}>")
            result = handler(request)
            log.append(f"<{name}:{type(result).__name__}")
            return result

        return Dual(name, sync=wrap)

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

    (result,) = await execute([flaky], call("flaky", {}), wraps=[Dual("retry", asynchronous=retry)])
    assert result.message.text == "second"


async def test_a_layer_that_returns_nothing_usable_is_an_error(execute: Execute) -> None:
    @tool
    def give() -> str:
        """Give."""
        return "x"

    def nothing(_request: Any, _handler: Any) -> None:
        """Return nothing."""

    wraps = [Dual("bad", sync=nothing)]
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
