"""A layer's logic written once, as a generator, and driven in a synchronous or asynchronous run.

What a flow is says :mod:`interlock.tools.layers`, which runs lists of them; here are the two
forms that a middleware shows to whoever calls its hooks, and the means to drive a flow by hand.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar, cast

import anyio

from ..tools.calls import AWAITING, BLOCKING, Dual, run_inline
from ..tools.layers import Ask, Flow, Layer, call_layer, run_flow

__all__ = [
    "WAIT",
    "Ask",
    "Flow",
    "adrive",
    "drive",
    "flow_layer",
    "request_layer",
]

ResultT = TypeVar("ResultT")


# anyio waits on whichever event loop runs; asyncio itself is the business of the calls port.
WAIT = Dual("the wait", time.sleep, anyio.sleep)
"""``Ask(WAIT, (seconds,))`` waits without blocking an event loop."""


def _no_handler(wanted: Any) -> Any:
    msg = f"A flow without a handler yielded {wanted!r}; yield an Ask."
    raise TypeError(msg)


async def _no_async_handler(wanted: Any) -> Any:
    _no_handler(wanted)


def drive(flow: Flow[ResultT], handler: Callable[[Any], Any] = _no_handler) -> ResultT:
    """What a flow returns, its requests answered by a plain function.

    Args:
        flow: The logic; of a hook, one that yields nothing but ``Ask``.
        handler: The next layer.

    Raises:
        WouldBlockError: Something that the flow asks for exists in an asynchronous form only.
    """
    return run_inline(run_flow(flow, _as_awaited(handler), BLOCKING))


async def adrive(
    flow: Flow[ResultT], handler: Callable[[Any], Awaitable[Any]] = _no_async_handler
) -> ResultT:
    """What a flow returns, its requests answered by an asynchronous function."""
    return await run_flow(flow, handler, AWAITING)


def flow_layer(flow: Callable[[Any, Any], Flow[Any] | None]) -> tuple[Any, Any]:
    """The two forms of a ``wrap_...`` hook, of logic that is written once.

    An agent runs the logic itself and needs neither form; they are for whoever calls the hook.

    Args:
        flow: A method that makes a flow of the request, or returns None where it has nothing to
            do with it.

    Returns:
        The hook and its asynchronous twin: ``wrap_tool_call, awrap_tool_call = flow_layer(_flow)``.
    """
    return _two_forms(Layer(flow.__name__, flow=cast("Any", flow)), flow.__doc__)


def request_layer(change: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    """:func:`flow_layer` for a method that makes a request of the request, and no more."""
    return _two_forms(Layer(change.__name__, change=cast("Any", change)), change.__doc__)


def _two_forms(logic: Layer, says: str | None) -> tuple[Any, Any]:
    def wrap(self: Any, request: Any, handler: Callable[[Any], Any]) -> Any:
        return run_inline(call_layer(BLOCKING, bound(logic, self), _as_awaited(handler), request))

    async def awrap(self: Any, request: Any, handler: Any) -> Any:
        return await call_layer(AWAITING, bound(logic, self), handler, request)

    wrap.__doc__ = awrap.__doc__ = says
    cast("Any", wrap).logic = cast("Any", awrap).logic = logic
    return wrap, awrap


def bound(logic: Layer, owner: Any) -> Layer:
    """The logic of a class as that of one object."""
    return replace(
        logic,
        flow=logic.flow and partial(logic.flow, owner),
        change=logic.change and partial(logic.change, owner),
    )


def _as_awaited(handler: Callable[[Any], Any]) -> Callable[[Any], Coroutine[Any, Any, Any]]:
    """A plain function as one that can be awaited and never suspends."""

    async def awaited(request: Any) -> Any:
        return handler(request)

    return awaited
