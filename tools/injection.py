"""Arguments that the run gives to a tool and the model never sees."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import isclass, signature
from typing import Annotated, Any, Union, cast, get_args, get_origin, get_type_hints

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, InjectedToolCallId
from langgraph.prebuilt import InjectedState, InjectedStore, ToolRuntime
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.runtime import Runtime
from pydantic import BaseModel

from ..state.containers import copy_containers
from ..state.errors import ToolExecutionError
from ..state.state import State


@dataclass(frozen=True)
class Injection:
    """Which arguments of one tool are filled in by the run."""

    state: Mapping[str, str | None]
    """Argument to state key; None stands for the whole state."""
    store: str | None = None
    runtime: str | None = None
    call_id: str | None = None
    live: str | None = None
    """The argument that is given the live state."""
    mapped: frozenset[str] = frozenset()
    """Arguments among those of ``state`` that the tool declares in ``inputs_from_state``."""
    offered: frozenset[str] = frozenset()
    """Those of them that the model is offered too: what it sends goes first."""
    optional: frozenset[str] = frozenset()
    """Arguments that have a default of their own."""

    @property
    def arguments(self) -> frozenset[str]:
        """Every injected argument: what the model sends for them is dropped."""
        names = {*self.state, self.store, self.runtime, self.call_id, self.live}
        return frozenset(name for name in names if name is not None)

    def hidden(self, args: Mapping[str, Any]) -> frozenset[str]:
        """The arguments that the run fills in a call to which the model gave ``args``."""
        return self.arguments - self.offered.intersection(args)

    def keys_read(self, args: Mapping[str, Any]) -> frozenset[str]:
        """State keys that such a call declares to take arguments from."""
        taken = self.mapped & self.hidden(args)
        return frozenset(key for name, key in self.state.items() if name in taken and key)

    @property
    def reads_state(self) -> bool:
        """The tool is given state without a declaration: it must see what calls before it wrote."""
        return bool(self.state.keys() - self.mapped)

    def values(
        self, request: ToolCallRequest, runtime: ToolRuntime[Any, Any], live: State | None = None
    ) -> dict[str, Any]:
        """The injected arguments of one call.

        Args:
            request: The call.
            runtime: What the tool may know of the run.
            live: The state for a tool that writes it as it runs.

        Raises:
            ToolExecutionError: The agent has no store or no such state key.
        """
        values = self._from_state(request)
        if self.live is not None:
            values[self.live] = request.state if live is None else live
        if self.store is not None:
            if runtime.store is None:
                raise self.missing(request, "a store; give create_agent one")
            values[self.store] = runtime.store
        if self.runtime is not None:
            values[self.runtime] = runtime
        if self.call_id is not None:
            values[self.call_id] = request.tool_call["id"]
        return values

    def _from_state(self, request: ToolCallRequest) -> dict[str, Any]:
        values: dict[str, Any] = {}
        hidden = self.hidden(request.tool_call["args"])
        for argument, key in self.state.items():
            state = request.state
            if key is None:
                values[argument] = state
            elif argument not in hidden:
                continue
            elif key in state:
                value = state[key]
                values[argument] = copy_containers(value) if argument in self.mapped else value
            elif argument not in self.optional:
                raise self.missing(request, f"state key {key!r}, which the state does not have")
        return values

    def missing(self, request: ToolCallRequest, what: str) -> ToolExecutionError:
        """The error for a tool that asks for what this run does not have."""
        name = request.tool_call["name"]
        return ToolExecutionError(
            f"Tool {name!r} needs {what}.", tool_name=name, tool_call_id=request.tool_call["id"]
        )


def find_injection(tool: BaseTool, inputs: Mapping[str, str] | None = None) -> Injection:
    """Read off a tool's schema and signature which arguments are injected.

    Args:
        tool: The tool.
        inputs: The arguments that it declares to take from state, by state key.
    """
    mapped = {argument: key for key, argument in (inputs or {}).items()}
    state: dict[str, str | None] = {**mapped}
    single: dict[str, str] = {}
    for name, annotation in _annotations(tool).items():
        kind = _kind_of(name, annotation)
        if isinstance(kind, InjectedState):
            state.setdefault(name, kind.field)
        elif kind is not None:
            single[kind] = name
    return Injection(
        state=state,
        store=single.get("store"),
        runtime=single.get("runtime"),
        call_id=single.get("call_id"),
        live=single.get("live"),
        mapped=frozenset(mapped),
        offered=_offered(tool, mapped),
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


def asks_for_live_state(function: Callable[..., Any]) -> list[str]:
    """The parameters of a function that are annotated ``State``."""
    try:
        hints = get_type_hints(function, include_extras=True)
    except (NameError, TypeError):
        return []
    return [name for name in parameters_of(function) if _kind_of(name, hints.get(name)) == "live"]


def _offered(tool: BaseTool, mapped: Mapping[str, str]) -> frozenset[str]:
    """The arguments from state that the model is told about all the same."""
    if not mapped:
        return frozenset()
    schema = cast("Any", tool.tool_call_schema)
    names = getattr(schema, "model_fields", None)
    return frozenset(mapped).intersection(schema.get("properties", {}) if names is None else names)


def functions_of(tool: BaseTool) -> list[Callable[..., Any]]:
    """The functions that a tool runs."""
    own = [getattr(tool, "func", None), getattr(tool, "coroutine", None)]
    found = [f for f in own if f is not None]
    return found or [tool._run]  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]


def _annotations(tool: BaseTool) -> dict[str, Any]:
    """Annotations by argument, from the schema and from the function, which need not agree."""
    found: dict[str, Any] = {}
    for function in functions_of(tool):
        names = parameters_of(function)
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


def parameters_of(function: Callable[..., Any]) -> list[str]:
    """The names of a function's parameters, variable ones left out."""
    try:
        return [n for n in signature(function).parameters if n not in {"self", "args", "kwargs"}]
    except (TypeError, ValueError):
        return []


def _optional(tool: BaseTool) -> frozenset[str]:
    names: set[str] = set()
    for function in functions_of(tool):
        try:
            parameters = signature(function).parameters
        except (TypeError, ValueError):
            continue
        names |= {n for n, p in parameters.items() if p.default is not p.empty}
    schema = tool.args_schema
    if isclass(schema) and issubclass(schema, BaseModel):
        names |= {n for n, info in schema.model_fields.items() if not info.is_required()}
    return frozenset(names)


_WORDS: tuple[tuple[type, str], ...] = (
    (ToolRuntime, "runtime"),
    (State, "live"),
    (InjectedStore, "store"),
    (InjectedToolCallId, "call_id"),
)
"""What the run fills in, by the class that an annotation names or has an instance of."""


def _kind_of(name: str, annotation: Any) -> InjectedState | str | None:
    """What an annotation asks for: state, or one of 'live', 'store', 'runtime', 'call_id'."""
    for part in _parts(annotation):
        if isinstance(part, InjectedState):
            return part
        kind = part if isclass(part) else type(cast("object", part))
        if issubclass(kind, InjectedState):
            return InjectedState()
        for base, word in _WORDS:
            if issubclass(kind, base):
                return word
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
