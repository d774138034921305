"""What a streaming callback is told while a run goes on."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Iterator
from inspect import iscoroutinefunction
from typing import Any, cast

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage
from langgraph.types import Interrupt

from ...state.errors import ConfigurationError
from ...tools.calls import Calls, Dual
from ..plan import MODEL

StreamingCallback = Callable[[BaseMessage], Any]
"""``(chunk)``, ``def`` or ``async def``: an ``AIMessageChunk`` of a reply, a whole ``AIMessage``
of a model that does not stream, or the ``ToolMessage`` of a finished call."""

MODES = ["messages", "updates", "values"]
"""The stream modes that a run with a callback needs."""


def dual_of(callback: StreamingCallback, *, synchronous: bool) -> Dual:
    """The callback in the style it is written in.

    Raises:
        ConfigurationError: It is no function, or it is asynchronous and the run is not.
    """
    check_callback(callback)
    is_async = iscoroutinefunction(callback) or iscoroutinefunction(
        getattr(callback, "__call__", None)  # noqa: B004 - the method itself is looked at
    )
    if is_async and synchronous:
        msg = "streaming_callback is asynchronous; use arun, or give a plain function."
        raise ConfigurationError(msg)
    if is_async:
        return Dual("streaming_callback", asynchronous=callback)
    return Dual("streaming_callback", sync=callback)


def check_callback(callback: Any) -> None:
    """Refuse a callback that nobody can call.

    Raises:
        ConfigurationError: It is neither None nor a function.
    """
    if callback is not None and not callable(callback):
        msg = f"streaming_callback is {callback!r}; give a function (chunk)."
        raise ConfigurationError(msg)


async def listen(
    calls: Calls, stream: Any, callback: Dual, *, tool_results: bool
) -> dict[str, Any]:
    """Call ``callback`` with the chunks of a run.

    Args:
        calls: How it is called.
        stream: The run's stream in :data:`MODES`, of either kind.
        callback: What is called.
        tool_results: Call it with the results of tools, too.

    Returns:
        The result of the run, pauses included.
    """
    result: dict[str, Any] = {}
    pauses: list[Interrupt] = []
    chunks = stream if hasattr(stream, "__aiter__") else _in_turn(stream)
    async for mode, chunk in chunks:
        if mode == "values":
            result = cast("dict[str, Any]", chunk)
        elif mode == "updates":
            pauses.extend(chunk.get("__interrupt__", ()))
        elif _is_told(*chunk, tool_results=tool_results):
            await calls.call(callback, chunk[0])
    return {**result, "__interrupt__": pauses} if pauses else result


def _is_told(message: Any, metadata: dict[str, Any], *, tool_results: bool) -> bool:
    """Whether a chunk is a piece of the agent's reply, or a result, and not of a call inside."""
    if isinstance(message, ToolMessage):
        return tool_results
    return isinstance(message, AIMessage) and metadata.get("langgraph_node") == MODEL


async def _in_turn(items: Iterator[Any]) -> AsyncIterator[Any]:
    for item in items:
        yield item


def print_streaming_chunk(chunk: BaseMessage) -> None:
    """A ready-made callback: prints text as it comes, tool calls, and their results."""
    write = sys.stdout.write
    if isinstance(chunk, ToolMessage):
        write(f"[{chunk.name}] {chunk.text}\n")
    elif isinstance(chunk, AIMessageChunk):
        for call in chunk.tool_call_chunks:
            write(f"\n{call['name']}: " if call["name"] else "")
            write(call["args"] or "")
        write(f"{chunk.text}\n" if chunk.chunk_position == "last" else chunk.text)
    elif isinstance(chunk, AIMessage):
        for made in chunk.tool_calls:
            write(f"\n{made['name']}: {made['args']}")
        write(f"{chunk.text}\n")
    sys.stdout.flush()
