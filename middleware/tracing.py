"""Traced runs of hooks and layers: one per call, and only while a handler listens."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator, Mapping
from contextlib import contextmanager
from typing import Any, cast

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import (
    ensure_config,
    patch_config,
    var_child_runnable_config,
)
from langgraph.types import TracePolicy

from ..tools.calls import Calls, Dual
from ..tools.layers import call_layer
from .trace_payload import HookInput, without_keys

_NODE = "langgraph_node"
"""Metadata key: the node that a run belongs to; token streams show it."""

_DEFAULT: dict[str, TracePolicy | None] = {"policy": None}


def configure_trace_policy(policy: TracePolicy | None) -> None:
    """Set what traced runs of hooks record where a middleware has no ``trace_policy`` of its own.

    It holds for the whole process, from the next call of a hook on.

    Args:
        policy: A ``langgraph.types.TracePolicy``, or None for everything.
    """
    _DEFAULT["policy"] = policy


class TracedCall(Runnable[Any, Any]):
    """A call of a hook or layer as a run of its own in callbacks and traces."""

    def __init__(
        self,
        name: str,
        call: Callable[[], Coroutine[Any, Any, Any]],
        calls: Calls,
        policy: TracePolicy | None,
        private: frozenset[str] = frozenset(),
    ) -> None:
        self.name = name
        self._call = call
        self._calls = calls
        self._policy = policy or _DEFAULT["policy"]
        self._private = private
        self._value: Any = None

    def invoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> Any:
        """Run in a synchronous run; ``input`` is what is recorded."""
        self._call_with_config(self._run, input, ensure_config(config))
        return self._value

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> Any:
        """Run in an asynchronous run; ``input`` is what is recorded."""
        await self._acall_with_config(self._arun, input, ensure_config(config))
        return self._value

    def recorded(self, value: Any) -> Any:
        """What the trace shows of the input."""
        process = self._policy.process_inputs if self._policy is not None else None
        shown = without_keys(value, self._private)
        return shown if process is None else process(shown)

    def _run(self, _: Any) -> Any:
        self._value = self._calls.blocking(self._call)()
        return self._shown()

    async def _arun(self, _: Any) -> Any:
        self._value = await self._call()
        return self._shown()

    def _shown(self) -> Any:
        process = self._policy.process_outputs if self._policy is not None else None
        shown = without_keys(self._value, self._private)
        return shown if process is None else process(shown)


async def traced(
    name: str,
    call: Callable[[], Coroutine[Any, Any, Any]],
    shown: Any,
    calls: Calls,
    config: RunnableConfig | None,
    policy: TracePolicy | None,
    *,
    private: frozenset[str] = frozenset(),
    streams_as: str | None = None,
) -> Any:
    """Await ``call()`` inside a traced run.

    Args:
        name: Name of the run.
        call: What to run; models that it calls become child runs.
        shown: The input that is recorded.
        calls: The port of the run.
        config: Config of the surrounding run; None takes that of the context.
        policy: What is recorded, of the middleware.
        private: State keys that are not recorded.
        streams_as: Node name that token streams of models called inside carry.
    """
    run = TracedCall(name, call, calls, policy, private)
    recorded = run.recorded(shown)
    config = patch_config(ensure_config(config), run_name=name)
    if streams_as is not None:
        metadata = cast("Mapping[str, Any]", config.get("metadata") or {})
        config["metadata"] = {**metadata, _NODE: streams_as}
        recorded = HookInput(cast("Any", recorded)) if isinstance(recorded, dict) else recorded
    return await calls.call(Dual(name, run.invoke, run.ainvoke), recorded, config)


async def traced_layer(
    calls: Calls,
    layer: Dual,
    inner: Callable[[Any], Coroutine[Any, Any, Any]],
    request: Any,
) -> Any:
    """Call a layer around ``inner`` as a run of its own.

    Token streams of models that the layer calls itself carry its name; those of ``inner`` carry
    that of the node.
    """
    node = (ensure_config().get("metadata") or {}).get(_NODE)

    async def handler(changed: Any) -> Any:
        with _streaming_as(node):
            return await inner(changed)

    async def call() -> Any:
        with _streaming_as(layer.name):
            return await call_layer(calls, layer, handler, request)

    policy = getattr(layer, "trace_policy", None)
    private = getattr(layer, "private", frozenset[str]())
    shown = {"request": request}
    return await traced(layer.name, call, shown, calls, None, policy, private=private)


@contextmanager
def _streaming_as(node: str | None) -> Generator[None]:
    """Let token streams of models that are called in this context carry the name of a node."""
    around = var_child_runnable_config.get()
    if around is None or node is None:
        yield
        return
    metadata = {**(around.get("metadata") or {}), _NODE: node}
    token = var_child_runnable_config.set({**around, "metadata": metadata})
    try:
        yield
    finally:
        var_child_runnable_config.reset(token)
