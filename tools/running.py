"""Running one tool with checked arguments, traced when somebody listens and direct otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from inspect import isclass, signature
from typing import Any, Protocol, cast

from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langgraph.types import Command
from pydantic import BaseModel, ValidationError

from ..state.errors import ToolExecutionError, WouldBlockError
from .batches import StateAccess
from .calls import Calls, Dual
from .decorator import StateTool
from .injection import Injection, find_injection, wants_config
from .results import content_of
from .state_mapping import StateMapping, mapping_of


class InvalidArgumentsError(Exception):
    """The model's arguments do not fit the tool; never leaves the executor."""

    def __init__(self, source: ValidationError) -> None:
        super().__init__(str(source))
        self.source = source


class Setting(Protocol):
    """What running a tool needs to know of the run."""

    @property
    def calls(self) -> Calls:
        """The port that user code is called through."""
        ...

    @property
    def config(self) -> RunnableConfig:
        """The node's config."""
        ...

    @property
    def observed(self) -> bool:
        """Whether handlers listen."""
        ...


TOOL_CALL = "tool_call_id"
"""Metadata key of what a tool call runs where anybody listens: the call."""

_RETURNED: ContextVar[list[Any] | None] = ContextVar("interlock_returned", default=None)
"""Where an observed tool leaves its return value, which langchain-core makes into text."""


@dataclass(frozen=True)
class RunnableTool:
    """A tool with everything that can be known of it before it is called."""

    tool: BaseTool
    injection: Injection
    mapping: StateMapping
    """What it declares to take from the state and to give to it."""
    may_write: bool
    """It may update state in other ways than it declares."""
    traced: Dual
    """The tool through langchain-core: callbacks, tracing, its own error handling."""
    direct: Dual | None
    """The bare function, where langchain-core would add nothing but callbacks."""

    @classmethod
    def of(cls, tool: BaseTool) -> RunnableTool:
        """Prepare a tool."""
        mapping = mapping_of(tool)
        injection = find_injection(tool, mapping.inputs)
        return cls(
            tool=tool,
            injection=injection,
            mapping=mapping,
            may_write=(
                injection.reads_state or injection.call_id is not None or _returns_command(tool)
            ),
            traced=_traced(tool),
            direct=_direct(tool),
        )

    def access(self, args: Mapping[str, Any]) -> StateAccess:
        """What a call may do with state, to which the model gave ``args``."""
        return StateAccess(
            reads=self.injection.keys_read(args),
            writes=frozenset(self.mapping.outputs),
            replaces=self.mapping.replaced,
            may_read=self.injection.reads_state,
            may_write=self.may_write,
            alone=self.injection.live is not None,
        )

    async def run(
        self, call: ToolCall, args: dict[str, Any], injected: Mapping[str, Any], setting: Setting
    ) -> Any:
        """Run the tool and return what it returned, or an error message it made itself.

        Args:
            call: The call, for its id.
            args: The model's arguments, without injected ones.
            injected: The run's arguments.
            setting: How to call, and with which config.

        Raises:
            InvalidArgumentsError: ``args`` do not fit.
            WouldBlockError: The tool is asynchronous only, the run is not.
            Exception: Whatever the tool raises.
        """
        self._check_mode(setting)
        valid = self.validate(args, injected)
        if self.direct is not None and not setting.observed:
            return self._unpack(call, await self._call_direct(call, valid, injected, setting))
        given = {**args, **injected}
        # Given bare arguments, a tool of another kind returns its value instead of a message.
        full = given if self._value_is_needed else {**call, "args": given}
        returned: list[Any] = []
        token = _RETURNED.set(returned)
        try:
            # The context's config makes the tool a child of the traced layer around it.
            message = await setting.calls.call(self.traced, full, _marked(call))
        finally:
            _RETURNED.reset(token)
        # langchain-core has made text of the value; what the tool returned says more.
        return self._unpack(call, returned[-1]) if returned else message

    def validate(self, args: dict[str, Any], injected: Mapping[str, Any]) -> dict[str, Any]:
        """The model's arguments as the tool's schema makes them.

        Raises:
            InvalidArgumentsError: They do not fit.
        """
        schema = self.tool.args_schema
        if not (isclass(schema) and issubclass(schema, BaseModel)):
            return args
        fields = schema.model_fields
        known = {k: v for k, v in injected.items() if k in fields}
        try:
            model = schema.model_validate({**args, **known})
        except ValidationError as error:
            raise InvalidArgumentsError(error) from error
        given = model.model_fields_set
        return {
            name: getattr(model, name)
            for name, info in fields.items()
            if name in given or not info.is_required()
        }

    async def _call_direct(
        self, call: ToolCall, valid: dict[str, Any], injected: Mapping[str, Any], setting: Setting
    ) -> Any:
        """Call the bare function; a ``ToolException`` is handled as the tool says."""
        direct = cast("Dual", self.direct)
        try:
            return await setting.calls.call(direct, {**valid, **injected})
        except ToolException as error:
            handle: Any = self.tool.handle_tool_error
            if not handle:
                raise
            text: Any = handle(error) if callable(handle) else handle
            if text is True:
                text = str(error.args[0]) if error.args else "Tool execution error"
            return ToolMessage(
                text, tool_call_id=cast("str", call["id"]), name=call["name"], status="error"
            )

    @property
    def _value_is_needed(self) -> bool:
        """Whether it declares outputs, but has no function whose value could be kept."""
        declares = bool(self.mapping.outputs) or self.mapping.text is not None
        return declares and not isinstance(self.tool, StructuredTool)

    def _unpack(self, call: ToolCall, value: Any) -> Any:
        """Take content and artifact apart, where the tool returns both."""
        if self.tool.response_format != "content_and_artifact" or isinstance(
            value, (ToolMessage, Command)
        ):
            return cast("Any", value)
        pair = cast("tuple[Any, ...]", value) if isinstance(value, tuple) else ()
        if len(pair) != 2:  # noqa: PLR2004
            msg = f"Tool {self.tool.name!r} must return a pair of content and artifact."
            raise ToolExecutionError(msg, tool_name=self.tool.name, tool_call_id=call["id"])
        return ToolMessage(
            content_of(self.tool.name, pair[0]),
            artifact=pair[1],
            tool_call_id=cast("str", call["id"]),
            name=self.tool.name,
        )

    def _check_mode(self, setting: Setting) -> None:
        """An asynchronous tool in a synchronous run is the caller's mistake, not the model's."""
        tool = self.tool
        if setting.calls.synchronous and isinstance(tool, StructuredTool) and tool.func is None:
            msg = f"Tool {tool.name!r} is asynchronous; a synchronous run cannot call it. Use ainvoke."
            raise WouldBlockError(msg)


def _traced(tool: BaseTool) -> Dual:
    watched = _watched(tool)
    return Dual(tool.name, sync=watched.invoke, asynchronous=watched.ainvoke)


def _watched(tool: BaseTool) -> BaseTool:
    """A copy of a function's tool that also leaves its return value for the executor."""
    if not isinstance(tool, StructuredTool):
        return tool
    update: dict[str, Any] = {}
    if tool.func is not None:
        update["func"] = _noting(tool.func)
    if tool.coroutine is not None:
        update["coroutine"] = _noting_async(tool.coroutine)
    return tool.model_copy(update=update)


def _noted(value: Any) -> Any:
    """The value, left for the executor if it waits for one."""
    if (returned := _RETURNED.get()) is not None:
        returned.append(value)
    return value


def _noting(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def noting(*args: Any, **kwargs: Any) -> Any:
        return _noted(function(*args, **kwargs))

    return noting


def _noting_async(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    async def noting(*args: Any, **kwargs: Any) -> Any:
        return _noted(await function(*args, **kwargs))

    return noting


def _direct(tool: BaseTool) -> Dual | None:
    """The bare function of a tool that has no callbacks and no subclass behaviour."""
    if (
        not isinstance(tool, StructuredTool)
        or type(tool) not in (StructuredTool, StateTool)
        or tool.callbacks
        or tool.verbose
        or tool.handle_validation_error
        or not (isclass(tool.args_schema) and issubclass(tool.args_schema, BaseModel))
        or wants_config(tool)
        or _takes_variable_arguments(tool)
    ):
        return None
    function, coroutine = tool.func, tool.coroutine
    return Dual(
        tool.name,
        sync=_by_name(function) if function else None,
        asynchronous=_by_name(coroutine) if coroutine else None,
    )


def _by_name(function: Callable[..., Any]) -> Callable[[dict[str, Any]], Any]:
    """The function as one of a dict of its arguments."""
    return lambda arguments: function(**arguments)


def _takes_variable_arguments(tool: StructuredTool) -> bool:
    function = tool.func or tool.coroutine
    if function is None:
        return True
    kinds = {p.kind for p in signature(function).parameters.values()}
    return any(kind.name.startswith("VAR_") or kind.name == "POSITIONAL_ONLY" for kind in kinds)


def _returns_command(tool: BaseTool) -> bool:
    function = getattr(tool, "func", None) or getattr(tool, "coroutine", None)
    returned = getattr(function, "__annotations__", {}).get("return")
    return "Command" in str(returned)


def _marked(call: ToolCall) -> RunnableConfig:
    """What a traced call adds to the config of the context, which it leaves as it is otherwise."""
    around = var_child_runnable_config.get() or {}
    metadata = {**(around.get("metadata") or {}), TOOL_CALL: call["id"]}
    return cast("RunnableConfig", {"metadata": metadata})
