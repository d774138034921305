"""A layer's logic written once, as a generator, and driven in a synchronous or asynchronous run.

A flow yields what it wants done and is sent what came of it. What it yields is a request for the
layer's handler, or an :class:`Ask` for anything else that takes time: an inner model call, a
wait. What fails is raised where the flow yielded, so a flow handles it with ``try``. A signal,
such as an interrupt, comes the same way, and a flow that catches ``Exception`` around a
``yield`` must let ``GraphBubbleUp`` pass.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from typing import Any, TypeVar

import anyio
from langgraph.errors import is_invalid_resume

from ..tools.calls import AWAITING, BLOCKING, Calls, Dual, run_inline

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
    return run_inline(_drive(flow, handler, BLOCKING))


async def adrive(
    flow: Flow[ResultT], handler: Callable[[Any], Awaitable[Any]] = _no_async_handler
) -> ResultT:
    """What a flow returns, its requests answered by an asynchronous function."""
    return await _drive(flow, handler, AWAITING)


async def _drive(flow: Flow[ResultT], handler: Callable[[Any], Any], calls: Calls) -> ResultT:
    try:
        wanted = next(flow)
        while True:
            try:
                if isinstance(wanted, Ask):
                    answer = await calls.call(wanted.function, *wanted.args)
                else:
                    answer = handler(wanted) if calls.synchronous else await handler(wanted)
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
