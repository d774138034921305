from __future__ import annotations

from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda

from interlock.middleware.flows import Ask, Flow, adrive, drive
from interlock.state.errors import WouldBlockError
from interlock.tools.calls import Dual


def _twice(request: int) -> Flow[list[Any]]:
    first = yield request
    try:
        second = yield request + 1
    except ValueError as error:
        second = str(error)
    return [first, second]


def _refuse_odd(request: int) -> int:
    if request % 2:
        msg = f"odd {request}"
        raise ValueError(msg)
    return request * 10


async def test_failure_is_raised_where_the_flow_yielded() -> None:
    async def handler(request: int) -> int:
        return _refuse_odd(request)

    assert drive(_twice(2), _refuse_odd) == [20, "odd 3"]
    assert await adrive(_twice(2), handler) == [20, "odd 3"]


def test_failure_that_the_flow_does_not_handle_leaves_it() -> None:
    with pytest.raises(ValueError, match="odd 1"):
        drive(_twice(1), _refuse_odd)


async def test_ask_calls_the_form_that_fits_the_run() -> None:
    async def handler(request: int) -> int:
        return _refuse_odd(request)

    async def later() -> str:
        return "asynchronous"

    def flow() -> Flow[Any]:
        return (yield Ask(Dual("either", lambda: "synchronous", later)))

    assert drive(flow(), _refuse_odd) == "synchronous"
    assert await adrive(flow(), handler) == "asynchronous"


async def test_model_is_asked_with_value_and_config() -> None:
    async def handler(request: int) -> int:
        return _refuse_odd(request)

    def flow() -> Flow[Any]:
        return (yield Ask.model(RunnableLambda(str.upper), "text", {"tags": ["a"]}))

    assert drive(flow(), _refuse_odd) == "TEXT"
    assert await adrive(flow(), handler) == "TEXT"


def test_wait_that_needs_a_loop_is_refused_in_a_synchronous_run() -> None:
    async def later() -> None:
        await _Never()

    def flow() -> Flow[None]:
        yield Ask(Dual("later", asynchronous=later))

    with pytest.raises(WouldBlockError, match="later"):
        drive(flow(), _refuse_odd)


class _Never:
    def __await__(self) -> Any:
        yield self
