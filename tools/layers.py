"""Layers around a call: what a ``wrap_…`` hook is, and how a list of them is run.

A layer of the library is written once, as a *flow*: a generator that yields what it wants done
and is sent what came of it. What it yields is a request for the rest of the layers, or an
:class:`Ask` for anything else that takes time: an inner model call, a wait. What fails is raised
where the flow yielded, so a flow handles it with ``try``. A signal, such as an interrupt, comes
the same way, and a flow that catches ``Exception`` around a ``yield`` must let ``GraphBubbleUp``
pass.

Flows lie on a stack and one coroutine drives them all, so a layer that has nothing to do costs
about as much as a function call. A layer of a user's is a function that calls its handler; the
layers inside it are run as its handler.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from langgraph.errors import is_invalid_resume

from .calls import Calls, Dual

ResultT = TypeVar("ResultT")

Flow = Generator[Any, Any, ResultT]
"""Yields requests for the handler and ``Ask`` objects; returns what the layer returns."""


@dataclass(frozen=True)
class Ask:
    """Something a flow wants called instead of its handler."""

    function: Dual
    """In an asynchronous run its asynchronous form is preferred, in a synchronous run the other."""
    args: tuple[Any, ...] = ()
    seconds: float | None = None
    """Longest time that it may take; ``TimeoutError`` is raised then."""

    @classmethod
    def model(cls, runnable: Any, value: Any, config: Any = None) -> Ask:
        """Invoke a model or any other runnable."""
        name = type(runnable).__name__
        return cls(Dual(name, runnable.invoke, runnable.ainvoke), (value, config))


@dataclass(frozen=True)
class Layer(Dual):
    """A ``wrap_…`` hook: ``(request, handler)``, or the logic of both its forms."""

    trace_policy: Any = None
    """What traced runs of it record."""
    private: frozenset[str] = frozenset()
    """State keys that they never record."""
    flow: Callable[[Any], Flow[Any] | None] | None = None
    """Its logic, if it is a flow of the request; None stands for one that passes it on."""
    change: Callable[[Any], Any] | None = None
    """Its logic, if it only puts another request in the place of a request."""
    withholds: bool = False
    """What comes from inside may be stored in the form only that the layer gives it."""


class _Returned:
    """What a flow returned, where what it yields could come instead."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


_Frame = tuple[Layer, Flow[Any], int]
"""A flow that is under way, its layer, and the place of the layer inside that."""


class LayerStack:
    """Layers around a core, the first one outermost. Made for one call, and cheap to make.

    Args:
        layers: The layers.
        core: What is inside all of them: ``await core(request)``.
        calls: The port of the run.
        through: How a layer that is not on the stack is called, see :func:`call_layer`.
        flat: Whether flows lie on the stack; else ``through`` calls each layer.
    """

    def __init__(
        self,
        layers: Sequence[Layer],
        core: Callable[[Any], Awaitable[Any]],
        calls: Calls,
        through: Callable[..., Coroutine[Any, Any, Any]] | None = None,
        *,
        flat: bool = True,
    ) -> None:
        self._layers = layers
        self._core = core
        self._calls = calls
        self._through = through or call_layer
        self._flat = flat

    def shown(self, answer: Any) -> Any:
        """What a layer is given of an answer that comes from inside."""
        return answer

    def taken(self, layer: Layer, returned: Any, below: Any) -> Any:  # noqa: ARG002
        """The answer that a layer's return value makes, where it is not what the layer was given.

        Args:
            layer: The layer.
            returned: What it returned.
            below: The last answer it was given, None if it asked for none or the last one failed.
        """
        return returned

    async def run(self, request: Any, position: int = 0) -> Any:
        """Send a request through the layers from ``position`` on to the core, and back.

        Raises:
            Exception: What a layer or the core raised and no layer around it handled.
        """
        frames: list[_Frame] = []
        error: Exception | None = None
        try:
            while True:
                try:
                    answer, error = await self._inwards(frames, request, position), None
                except Exception as failed:  # noqa: BLE001 - the layers decide what it means
                    answer, error = None, failed
                asks_again, value = await self._outwards(frames, answer, error)
                if not asks_again:
                    return value
                request, position = value, frames[-1][2]
        finally:
            # A failure refers to the calls it came through; if they did to it, it would live on.
            error = None
            for _, flow, _ in reversed(frames):
                flow.close()

    async def _inwards(self, frames: list[_Frame], request: Any, position: int) -> Any:
        """The answer of the innermost place that a request comes to."""
        layers, end = self._layers, len(self._layers)
        while position < end:
            layer = layers[position]
            if layer.flow is not None and self._flat:
                flow = layer.flow(request)
                position += 1
                if flow is None:
                    continue
                try:
                    request = flow.send(None)
                    if type(request) is Ask:
                        request = await self._asked(flow, request)
                except StopIteration as stop:
                    return self.taken(layer, stop.value, None)
                if type(request) is _Returned:
                    return self.taken(layer, request.value, None)
                frames.append((layer, flow, position))
            elif layer.change is not None and self._flat:
                request = layer.change(request)
                position += 1
            else:
                return await self._around(layer, request, position + 1)
        return await self._core(request)

    async def _outwards(
        self, frames: list[_Frame], answer: Any, error: Exception | None
    ) -> tuple[bool, Any]:
        """Give an answer, or a failure, to the flows that wait, the innermost first.

        Returns:
            Whether one asks again, and its request; else the answer of the outermost one.
        """
        given = self.shown(answer) if error is None else None
        while frames and not (error is not None and is_invalid_resume(error)):
            # A wrong answer to a pause is no failure of the call, and no flow's business.
            layer, flow, _ = frame = frames.pop()
            try:
                try:
                    wanted = flow.send(given) if error is None else flow.throw(error)
                    if type(wanted) is Ask:
                        wanted = await self._asked(flow, wanted)
                    if type(wanted) is not _Returned:
                        frames.append(frame)
                        return True, wanted
                    returned = wanted.value
                except StopIteration as stop:
                    returned = stop.value
                if error is None and returned is given:
                    continue
                below = answer if error is None else None
                answer, error = self.taken(layer, returned, below), None
                given = self.shown(answer)
            except Exception as failed:  # noqa: BLE001 - the layers around decide what it means
                answer, given, error = None, None, failed
        if error is not None:
            try:
                raise error
            finally:
                error = None
        return False, answer

    async def _asked(self, flow: Flow[Any], wanted: Any) -> Any:
        """What a flow wants, or has returned, when it was given everything else it asks for."""
        try:
            while isinstance(wanted, Ask):
                given, error = None, None
                try:
                    given = await self._given(wanted)
                except Exception as failed:
                    if is_invalid_resume(failed):
                        raise
                    error = failed
                try:
                    wanted = flow.send(given) if error is None else flow.throw(error)
                except StopIteration as stop:
                    return _Returned(stop.value)
                finally:
                    error = None
        except BaseException:
            flow.close()
            raise
        return wanted

    def _given(self, ask: Ask) -> Coroutine[Any, Any, Any]:
        if ask.seconds is None:
            return self._calls.call(ask.function, *ask.args)
        return self._calls.within(ask.seconds, ask.function, *ask.args)

    async def _around(self, layer: Layer, request: Any, inside: int) -> Any:
        """The answer of a layer that calls its handler itself."""
        below: Any = None

        async def handler(changed: Any) -> Any:
            nonlocal below
            below = None
            below = await self.run(changed, inside)
            return self.shown(below)

        returned = await self._through(self._calls, layer, handler, request)
        return self.taken(layer, returned, below)


async def call_layer(
    calls: Calls, layer: Dual, inner: Callable[[Any], Coroutine[Any, Any, Any]], request: Any
) -> Any:
    """Call ``layer(request, handler)`` in the style it is written in, around ``inner``."""
    if isinstance(layer, Layer) and layer.change is not None:
        return await inner(layer.change(request))
    if isinstance(layer, Layer) and layer.flow is not None:
        flow = layer.flow(request)
        return await (inner(request) if flow is None else run_flow(flow, inner, calls))
    handler = calls.blocking(inner) if calls.uses_sync(layer) else inner
    return await calls.call(layer, request, handler)


async def run_flow(
    flow: Flow[ResultT], handler: Callable[[Any], Awaitable[Any]], calls: Calls
) -> ResultT:
    """What a flow returns, in a run of either kind.

    Args:
        flow: The logic.
        handler: The next layer; in a synchronous run it never suspends.
        calls: The port of the run.
    """
    alone = Layer("a flow", flow=lambda _: flow)
    return await LayerStack((alone,), handler, calls).run(None)  # type: ignore[no-any-return]
