from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from interlock.graph.extraction.time_limit import limited
from interlock.tools.calls import AWAITING, BLOCKING, Calls, Dual, run_inline

Call = Callable[..., Any]


@pytest.fixture(params=[BLOCKING, AWAITING], ids=["blocking", "awaiting"])
def call(request: pytest.FixtureRequest) -> Call:
    calls: Calls = request.param

    async def run(function: Dual, *args: Any) -> Any:
        if calls.synchronous:
            return run_inline(calls.call(function, *args))
        return await calls.call(function, *args)

    return run


async def test_what_takes_too_long_is_given_up(call: Call) -> None:
    released = threading.Event()
    slow = Dual("slow", released.wait, anyio.sleep)

    with pytest.raises(TimeoutError):
        await call(limited(slow, 0.01), 5)
    released.set()


async def test_result_and_error_pass(call: Call) -> None:
    async def divided(a: int, b: int) -> float:
        return a / b

    divide = limited(Dual("divide", int.__truediv__, divided), 60)

    assert await call(divide, 1, 2) == 0.5
    with pytest.raises(ZeroDivisionError):
        await call(divide, 1, 0)


async def test_context_is_the_callers(call: Call) -> None:
    variable = contextvars.ContextVar("variable", default="none")
    variable.set("mine")

    async def read() -> str:
        return variable.get()

    assert await call(limited(Dual("read", variable.get, read), 60)) == "mine"
