"""A tool of which callbacks and token streams hear only what may be seen.

Like ``graph/engine.py`` this uses private names of langgraph 1.2.24; tests fail when one changes.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, cast

from langchain_core.callbacks import BaseCallbackManager
from langchain_core.runnables.config import var_child_runnable_config
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.prebuilt.tool_node import ToolRuntime
from langgraph.pregel._messages import StreamMessagesHandler, StreamMessagesHandlerV2

_PLACE = "langgraph_checkpoint_ns"
"""Metadata key of the task that a run belongs to."""


@dataclass(frozen=True)
class QuietTool:
    """Makes quiet forms of a tool for one call."""

    result: Callable[[Any], Any]
    """What becomes of what it returns."""
    artifact: Callable[[Any], Any]
    """What becomes of an artifact."""
    error: Callable[[Exception], Exception]
    """What becomes of what it raises."""

    def of(self, tool: BaseTool) -> BaseTool:
        """A copy of the tool that tells nobody what it returns, raises and asks models itself."""
        pair = tool.response_format == "content_and_artifact"
        if isinstance(tool, StructuredTool):
            function = tool.func and self._plain(tool.func, pair)
            coroutine = tool.coroutine and self._awaited(tool.coroutine, pair)
            return tool.model_copy(update={"func": function, "coroutine": coroutine})
        quiet: Any = tool.model_copy()
        # A tool of another kind is a class with these methods; an object's own go first.
        vars(quiet)["_run"] = self._plain(quiet._run, pair)  # noqa: SLF001
        if type(tool)._arun is not BaseTool._arun:  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
            vars(quiet)["_arun"] = self._awaited(quiet._arun, pair)  # noqa: SLF001
        return cast("BaseTool", quiet)

    def _plain(self, function: Callable[..., Any], pair: bool) -> Callable[..., Any]:
        @wraps(function)
        def redacted(*args: Any, **kwargs: Any) -> Any:
            with self._guarded():
                return self._clean(function(*args, **_quiet_arguments(kwargs)), pair)

        return redacted

    def _awaited(self, function: Callable[..., Any], pair: bool) -> Callable[..., Any]:
        @wraps(function)
        async def redacted(*args: Any, **kwargs: Any) -> Any:
            with self._guarded():
                return self._clean(await function(*args, **_quiet_arguments(kwargs)), pair)

        return redacted

    @contextmanager
    def _guarded(self) -> Generator[None]:
        """Run what is inside with a quiet config, and change what it raises."""
        config = var_child_runnable_config.get()
        token = var_child_runnable_config.set(config and _quiet_config(config))
        try:
            yield
        except Exception as error:
            clean = self.error(error)
            if clean is error:
                raise
            raise clean from None
        finally:
            var_child_runnable_config.reset(token)

    def _clean(self, returned: Any, pair: bool) -> Any:
        values = cast("tuple[Any, ...]", returned) if isinstance(returned, tuple) else ()
        if pair and len(values) == 2:  # noqa: PLR2004 - content and artifact
            return self.result(values[0]), self.artifact(values[1])
        return self.result(returned)


def _quiet_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A function's arguments, with all that a model could be told to report to made quiet."""
    return {name: _quiet_argument(value) for name, value in arguments.items()}


def _quiet_argument(value: Any) -> Any:
    if isinstance(value, ToolRuntime):
        return replace(cast("Any", value), config=_quiet_config(cast("Any", value).config))
    if isinstance(value, BaseCallbackManager):
        return _quiet_callbacks(value)
    return _quiet_config(cast("Any", value)) if isinstance(value, dict) else value


def _quiet_config(config: Any) -> Any:
    callbacks = config.get("callbacks")
    if not isinstance(callbacks, BaseCallbackManager):
        return config
    quiet = _quiet_callbacks(callbacks)
    return config if quiet is callbacks else {**config, "callbacks": quiet}


def _quiet_callbacks(callbacks: BaseCallbackManager) -> BaseCallbackManager:
    """The manager with token streams that leave out models which the task itself asks.

    Agents that a tool runs are tasks of their own and stream as they were built to.
    """
    place = callbacks.metadata.get(_PLACE)
    loud = [h for h in callbacks.handlers if _is_token_stream(h)]
    if place is None or not loud:
        return callbacks
    quiet = callbacks.copy()
    for handler in loud:
        inherits = handler in callbacks.inheritable_handlers
        quiet.remove_handler(handler)
        quiet.add_handler(_deaf_to(handler, place), inherit=inherits)
    return quiet


def _is_token_stream(handler: Any) -> bool:
    # Typed events are redacted by the transformer.
    return isinstance(handler, StreamMessagesHandler) and not isinstance(
        handler, StreamMessagesHandlerV2
    )


def _deaf_to(handler: Any, place: str) -> Any:
    """The handler of a token stream that does not hear of models asked by one task."""
    begins = handler.on_chat_model_start
    quiet = copy.copy(handler)

    def on_chat_model_start(*args: Any, **kwargs: Any) -> Any:
        metadata = cast("Mapping[str, Any]", kwargs.get("metadata") or {})
        return None if metadata.get(_PLACE) == place else begins(*args, **kwargs)

    quiet.on_chat_model_start = on_chat_model_start
    return quiet
