"""A node for graphs of your own: runs the tool calls of the last AI message."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from langchain_core.messages import AnyMessage, ToolCall
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import ensure_config
from langgraph.errors import GraphInterrupt
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.runtime import Runtime, get_runtime
from langgraph.types import Command, Overwrite
from pydantic import BaseModel

from ..state.errors import InvalidInputError
from ..state.history import pending_calls
from ..state.reducers import HandledBy
from .calls import AWAITING, BLOCKING, Calls, run_inline
from .definition import ToolLike, collect_tools
from .error_text import failure_text
from .execution import OnToolError, RunContext, ToolExecutor, ToolPolicy
from .layers import Layer
from .results import CallResult

HandleErrors = (
    bool | str | Callable[[Exception], str] | type[Exception] | tuple[type[Exception], ...]
)
"""What a failing tool means: an error result (True, a text, a function), for some exceptions
only, or an exception of the node (False)."""


class ToolNode(Runnable[Any, Any]):
    """Runs pending tool calls and answers each of them once, in call order.

    The input is a state with messages (a dict or a model), a list of messages, or a list of tool
    calls. The output has the form of the input: ``{messages_key: [...]}`` or a list; commands of
    tools come along as a list of updates and commands.
    """

    def __init__(
        self,
        tools: Sequence[ToolLike],
        *,
        name: str = "tools",
        handle_tool_errors: HandleErrors = True,
        messages_key: str = "messages",
        wrap_tool_call: Callable[..., Any] | None = None,
        awrap_tool_call: Callable[..., Any] | None = None,
        tool_concurrency_limit: int | None = None,
    ) -> None:
        self.name = name
        self._key = messages_key
        wraps = (
            [Layer(f"{name}.wrap_tool_call", wrap_tool_call, awrap_tool_call)]
            if wrap_tool_call or awrap_tool_call
            else []
        )
        policy = ToolPolicy(_policy(handle_tool_errors), tool_concurrency_limit)
        self._executor = ToolExecutor(collect_tools([("the node", tools)]), wraps, policy)

    @property
    def tools_by_name(self) -> Mapping[str, Any]:
        """The tools of the node."""
        return self._executor.tools.by_name

    def invoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> Any:
        """Run the calls in this thread and a few helpers."""
        return run_inline(self._run(input, ensure_config(config), BLOCKING), "ToolNode")

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> Any:
        """Run the calls on the event loop."""
        return await self._run(input, ensure_config(config), AWAITING)

    async def _run(self, value: Any, config: RunnableConfig, calls: Calls) -> Any:
        pending, state = self._read(value)
        keys = frozenset(state) if isinstance(value, (dict, BaseModel)) else frozenset[str]()
        observed = bool(getattr(config.get("callbacks"), "handlers", None))
        context = RunContext(calls, config, _runtime(), observed, keys)
        results, errors = await self._executor.run_many(pending, state, context)
        if errors:
            failures = [e for e in errors if not isinstance(e, GraphInterrupt)]
            raise (failures or errors)[0]
        return self._write(value, results, state)

    def _read(self, value: Any) -> tuple[list[ToolCall], dict[str, Any]]:
        """The calls to run and the state that tools are given."""
        if isinstance(value, list):
            entries = cast("list[Any]", value)
            if entries and all(isinstance(e, dict) and "args" in e for e in entries):
                return cast("list[ToolCall]", entries), {}
            state: dict[str, Any] = {self._key: entries}
        elif isinstance(value, BaseModel):
            state = {name: getattr(value, name) for name in type(value).model_fields}
        else:
            state = dict(cast("Mapping[str, Any]", value))
        if self._key not in state:
            msg = f"ToolNode was given a state without {self._key!r}."
            raise InvalidInputError(msg, key=self._key)
        messages = cast("list[AnyMessage]", state[self._key])
        return pending_calls(messages), state

    def _write(self, value: Any, results: Sequence[CallResult], state: Mapping[str, Any]) -> Any:
        messages: list[Any] = [r.message for r in results]
        updates = _for_any_graph([u for r in results for u in r.updates], state)
        commands = [c for r in results for c in r.commands]
        if not updates and not commands:
            return messages if isinstance(value, list) else {self._key: messages}
        output: list[Any] = [Command(update={self._key: messages})]
        return [*output, *(Command(update=u) for u in updates), *commands]


def _for_any_graph(
    updates: Sequence[Mapping[str, Any]], state: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Updates that are merged by functions of tools, as values that another graph understands."""
    now = dict(state)
    plain: list[dict[str, Any]] = []
    for update in updates:
        plain.append({})
        for key, new in update.items():
            if isinstance(new, HandledBy):
                now[key] = new.merged_into(now.get(key))
            plain[-1][key] = Overwrite(now[key]) if isinstance(new, HandledBy) else new
    return plain


def _runtime() -> Runtime[Any]:
    try:
        return get_runtime()
    except (RuntimeError, KeyError):
        # Called outside a graph.
        return Runtime()


def _policy(handle: HandleErrors) -> OnToolError:
    if handle is True:
        return "message"
    if handle is False:
        return "raise"
    if isinstance(handle, str):
        return lambda _error, _request: handle
    if isinstance(handle, (type, tuple)):
        kinds = cast("tuple[type[Exception], ...]", handle)

        def some(error: Exception, request: ToolCallRequest) -> str | None:
            return (
                failure_text(request.tool_call["name"], error) if isinstance(error, kinds) else None
            )

        return some
    return lambda error, _request: handle(error)
