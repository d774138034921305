"""What tests of tools share: calls, run in both modes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from interlock.tools import (
    ToolExecutor,
    ToolPolicy,
    collect_tools,
)
from interlock.tools.calls import AWAITING, BLOCKING, run_inline
from interlock.tools.execution import RunContext
from interlock.tools.results import CallResult

STATE = {"messages": ["m"], "cart": ["pen"], "token": "tok-93f1-private"}
KEYS = frozenset({"messages", "cart", "token"})

Execute = Callable[..., Awaitable[list[CallResult]]]


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
