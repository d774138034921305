"""A layer's logic written once, as a generator, and driven in a synchronous or asynchronous run.

A flow yields what it wants done and is sent what came of it. What it yields is a request for the
layer's handler, or an :class:`Ask` for anything else that takes time: an inner model call, a
wait. What fails is raised where the flow yielded, so a flow handles it with ``try``. A signal,
such as an interrupt, comes the same way, and a flow that catches ``Exception`` around a
``yield`` must let ``GraphBubbleUp`` pass.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Coroutine, Generator
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import anyio
from langgraph.errors import is_invalid_resume

from ..tools.calls import AWAITING, BLOCKING, Calls, Dual, run_inline
from ..tools.calls import call_layer as call_either_form

ResultT = TypeVar("ResultT")

Flow = Generator[Any, Any, ResultT]
"""Yields requests for the handler and ``Ask`` objects; returns what the layer returns."""


@dataclass(frozen=True)
class Ask:
    """Something a flow wants called instead of its handler."""

    function: Dual
    """In an asynchronous run its asynchronous form is preferred, in a synchronous run the other."""
    args: tuple[Any, ...] = ()

    @classmethod
    def model(cls, runnable: Any, value: Any, config: Any = None) -> Ask:
        """Invoke a model or any other runnable."""
        name = type(runnable).__name__
        return cls(Dual(name, runnable.invoke, runnable.ainvoke), (value, config))


def forward(request: Any) -> Flow[Any]:
    """The flow of a layer that has nothing to do with a request."""
    return (yield request)


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


async def run_flow(
    flow: Flow[ResultT], handler: Callable[[Any], Awaitable[Any]], calls: Calls
) -> ResultT:
    """What a flow returns, in a run of either kind.

    Args:
        flow: The logic.
        handler: The next layer; in a synchronous run it never suspends.
        calls: The port of the run.
    """
    try:
        wanted = next(flow)
        while True:
            try:
                if isinstance(wanted, Ask):
                    answer = await calls.call(wanted.function, *wanted.args)
                else:
                    answer = await handler(wanted)
            except Exception as error:
                if is_invalid_resume(error):
                    # A wrong answer to a pause: no failure of the call, and no flow's business.
                    raise
                wanted = flow.throw(error)
            else:
                wanted = flow.send(answer)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]
    finally:
        flow.close()


Core = Callable[..., Coroutine[Any, Any, Any]]
"""A layer's logic for runs of both kinds: ``(self, calls, request, handler)``."""


def layer_of(core: Core) -> tuple[Any, Any]:
    """The two forms of a ``wrap_...`` hook, of logic that is written once.

    An agent calls the logic itself and needs neither form; they are for whoever calls the hook.

    Args:
        core: An ``async def`` method that takes the port of the run, the request and the next
            layer, which it awaits.

    Returns:
        The hook and its asynchronous twin: ``wrap_tool_call, awrap_tool_call = layer_of(_core)``.
    """

    def wrap(self: Any, request: Any, handler: Callable[[Any], Any]) -> Any:
        return run_inline(core(self, BLOCKING, request, _as_awaited(handler)))

    async def awrap(self: Any, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        return await core(self, AWAITING, request, handler)

    wrap.__doc__ = awrap.__doc__ = core.__doc__
    cast("Any", wrap).core = cast("Any", awrap).core = core
    return wrap, awrap


def flow_layer(flow: Callable[[Any, Any], Flow[Any]]) -> tuple[Any, Any]:
    """:func:`layer_of` for a method that makes a flow of the request."""

    async def core(self: Any, calls: Calls, request: Any, handler: Any) -> Any:
        return await run_flow(flow(self, request), handler, calls)

    core.__doc__ = flow.__doc__
    return layer_of(core)


def request_layer(change: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    """:func:`layer_of` for a method that makes a request of the request, and no more."""

    async def core(self: Any, _: Calls, request: Any, handler: Any) -> Any:
        return await handler(change(self, request))

    core.__doc__ = change.__doc__
    return layer_of(core)


async def call_layer(
    calls: Calls, layer: Dual, inner: Callable[[Any], Coroutine[Any, Any, Any]], request: Any
) -> Any:
    """Call a layer around ``inner``: its logic where it is there, else the form that fits."""
    core: Core | None = getattr(layer, "core", None)
    if core is not None:
        return await core(calls, request, inner)
    return await call_either_form(calls, layer, inner, request)


def _as_awaited(handler: Callable[[Any], Any]) -> Callable[[Any], Awaitable[Any]]:
    """A plain function as one that can be awaited and never suspends."""

    async def awaited(request: Any) -> Any:
        return handler(request)

    return awaited
