"""Arguments that the run gives to a tool and the model never sees."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import isclass, signature
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, InjectedToolCallId
from langgraph.prebuilt import InjectedState, InjectedStore, ToolRuntime
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.runtime import Runtime
from pydantic import BaseModel

from ..state.errors import ToolExecutionError


@dataclass(frozen=True)
class Injection:
    """Which arguments of one tool are filled in by the run."""

    state: Mapping[str, str | None]
    """Argument to state key; None stands for the whole state."""
    store: str | None = None
    runtime: str | None = None
    call_id: str | None = None
    optional: frozenset[str] = frozenset()
    """Arguments that have a default of their own."""

    @property
    def arguments(self) -> frozenset[str]:
        """Every injected argument: what the model sends for them is dropped."""
        names = {*self.state, self.store, self.runtime, self.call_id}
        return frozenset(name for name in names if name is not None)

    @property
    def reads_state(self) -> bool:
        """The tool asks for state, so it must see what calls before it in the batch wrote."""
        return bool(self.state)

    def values(self, request: ToolCallRequest, runtime: ToolRuntime[Any, Any]) -> dict[str, Any]:
        """The injected arguments of one call.

        Raises:
            ToolExecutionError: The agent has no store or no such state key.
        """
        values: dict[str, Any] = {}
        for argument, key in self.state.items():
            state = request.state
            if key is None:
                values[argument] = state
            elif key in state:
                values[argument] = state[key]
            elif argument not in self.optional:
                raise self._missing(request, f"state key {key!r}, which the state does not have")
        if self.store is not None:
            if runtime.store is None:
                raise self._missing(request, "a store; give create_agent one")
            values[self.store] = runtime.store
        if self.runtime is not None:
            values[self.runtime] = runtime
        if self.call_id is not None:
            values[self.call_id] = request.tool_call["id"]
        return values

    def _missing(self, request: ToolCallRequest, what: str) -> ToolExecutionError:
        name = request.tool_call["name"]
        return ToolExecutionError(
            f"Tool {name!r} needs {what}.", tool_name=name, tool_call_id=request.tool_call["id"]
        )


def find_injection(tool: BaseTool) -> Injection:
    """Read off a tool's schema and signature which arguments are injected."""
    state: dict[str, str | None] = {}
    single: dict[str, str] = {}
    for name, annotation in _annotations(tool).items():
        kind = _kind_of(name, annotation)
        if isinstance(kind, InjectedState):
            state[name] = kind.field
        elif kind is not None:
            single[kind] = name
    return Injection(
        state=state,
        store=single.get("store"),
        runtime=single.get("runtime"),
        call_id=single.get("call_id"),
        optional=_optional(tool),
    )


def wants_config(tool: BaseTool) -> bool:
    """Whether the function takes a ``RunnableConfig`` or callbacks, which langchain-core fills."""
    return any(
        annotation is RunnableConfig
        or RunnableConfig in get_args(annotation)
        or name in {"callbacks", "run_manager"}
        for name, annotation in _annotations(tool).items()
    )


def tool_runtime(
    request_state: Any,
    call_id: str | None,
    config: RunnableConfig,
    runtime: Runtime[Any],
    tools: Mapping[str, BaseTool],
) -> ToolRuntime[Any, Any]:
    """What a tool may know of the run it is called in."""
    return ToolRuntime(
        state=request_state,
        context=runtime.context,
        config=config,
        stream_writer=runtime.stream_writer,
        tool_call_id=call_id,
        store=runtime.store,
        tools=list(tools.values()),
        execution_info=runtime.execution_info,
        server_info=runtime.server_info,
    )


def _functions(tool: BaseTool) -> list[Callable[..., Any]]:
    own = [getattr(tool, "func", None), getattr(tool, "coroutine", None)]
    found = [f for f in own if f is not None]
    return found or [tool._run]  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]


def _annotations(tool: BaseTool) -> dict[str, Any]:
    """Annotations by argument, from the schema and from the function, which need not agree."""
    found: dict[str, Any] = {}
    for function in _functions(tool):
        names = _parameters(function)
        try:
            hints = get_type_hints(function, include_extras=True)
        except (NameError, TypeError):
            hints = dict(getattr(function, "__annotations__", {}))
        found |= {name: hints.get(name) for name in names}
    schema = tool.args_schema
    if isclass(schema) and issubclass(schema, BaseModel):
        for name, info in schema.model_fields.items():
            if info.metadata or found.get(name) is None:
                found[name] = Annotated[(info.annotation, *(info.metadata or [None]))]
    return found


def _parameters(function: Callable[..., Any]) -> list[str]:
    try:
        return [n for n in signature(function).parameters if n not in {"self", "args", "kwargs"}]
    except (TypeError, ValueError):
        return []


def _optional(tool: BaseTool) -> frozenset[str]:
    names: set[str] = set()
    for function in _functions(tool):
        try:
            parameters = signature(function).parameters
        except (TypeError, ValueError):
            continue
        names |= {n for n, p in parameters.items() if p.default is not p.empty}
    schema = tool.args_schema
    if isclass(schema) and issubclass(schema, BaseModel):
        names |= {n for n, info in schema.model_fields.items() if not info.is_required()}
    return frozenset(names)


def _kind_of(name: str, annotation: Any) -> InjectedState | str | None:
    """What an annotation asks for: state, or one of 'store', 'runtime', 'call_id'."""
    for part in _parts(annotation):
        if isinstance(part, InjectedState):
            return part
        if not isclass(part):
            if isinstance(part, InjectedStore):
                return "store"
            if isinstance(part, InjectedToolCallId):
                return "call_id"
            continue
        if issubclass(part, InjectedState):
            return InjectedState()
        if issubclass(part, ToolRuntime):
            return "runtime"
        if issubclass(part, InjectedStore):
            return "store"
        if issubclass(part, InjectedToolCallId):
            return "call_id"
    return "runtime" if name == "runtime" else None


def _parts(annotation: Any) -> list[Any]:
    """An annotation's types and metadata: ``Annotated`` and unions taken apart."""
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *metadata = get_args(annotation)
        return [*metadata, *_parts(inner)]
    if origin is Union or type(annotation).__name__ == "UnionType":
        return [p for a in get_args(annotation) for p in _parts(a)]
    return [origin or annotation]
