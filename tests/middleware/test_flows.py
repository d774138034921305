from __future__ import annotations

from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda

from interlock.middleware import AgentMiddleware
from interlock.middleware.collect import layer_at
from interlock.middleware.flows import (
    Ask,
    Flow,
    adrive,
    drive,
    flow_layer,
    request_layer,
)
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


class Twice:
    """A layer whose logic is written once."""

    def _flow(self, request: str) -> Flow[Any]:
        """Wrap the answer."""
        answer = yield request
        return [answer]

    def _changed(self, request: str) -> str:
        return request.upper()

    by_flow, aby_flow = flow_layer(_flow)
    by_request, aby_request = request_layer(_changed)


async def answer(request: str) -> str:
    return f"<{request}>"


@pytest.mark.parametrize(
    ("name", "expected"),
    [("by_flow", ["<a>"]), ("by_request", "<A>")],
)
async def test_logic_written_once_has_both_forms(name: str, expected: Any) -> None:
    layer = Twice()

    assert getattr(layer, name)("a", "<{}>".format) == expected
    assert await getattr(layer, f"a{name}")("a", answer) == expected


def test_a_layer_says_what_its_logic_says() -> None:
    assert Twice.by_flow.__doc__ == Twice.aby_flow.__doc__ == "Wrap the answer."


def test_a_layer_of_which_one_form_is_overridden_has_no_logic() -> None:
    class Base(AgentMiddleware[Any, Any, Any]):
        def _flow(self, request: Any) -> Flow[Any]:
            return (yield request)

        wrap_model_call, awrap_model_call = flow_layer(_flow)

    class Changed(Base):
        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            return handler(request)

    whole, half = (layer_at("wrap_model_call", "x", m()) for m in (Base, Changed))
    assert whole is not None
    assert whole.flow is not None
    assert half is not None
    assert half.flow is None
