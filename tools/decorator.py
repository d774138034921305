"""Tools made of functions that say what they take from the state and give to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import isclass, iscoroutinefunction
from typing import Annotated, Any, cast, overload

from langchain_core.tools import BaseTool, InjectedToolArg, StructuredTool
from langchain_core.tools import tool as plain_tool
from langgraph.prebuilt import InjectedState
from pydantic import BaseModel, Field, create_model

from ..state.errors import ToolDefinitionError
from .injection import asks_for_live_state, parameters_of
from .state_mapping import mapping_of

Table = Mapping[str, Any]


class StateTool(StructuredTool):
    """A function as a tool that takes arguments from the state and gives results to it.

    The model is not offered the arguments that come from the state, and what it sends for them
    is dropped.
    """

    inputs_from_state: dict[str, str] = Field(default_factory=dict[str, str])
    """State key to argument. An argument with a default may lack its state key."""
    outputs_to_state: dict[str, Any] = Field(default_factory=dict[str, Any])
    """State key to ``{"source": part, "handler": function}``, both of which may be left out:
    without a source the key gets the whole result, and a handler ``(current, new)`` is used in
    place of the key's own merge function."""
    outputs_to_string: dict[str, Any] | None = None
    """What the model reads: ``{"source": part, "handler": function, "raw_result": bool}``, or
    several of these by name; the whole result where it is left out."""
    offers_inputs: bool = False
    """The model is offered the arguments of ``inputs_from_state`` too; what it sends goes first."""

    def __init__(self, **fields: Any) -> None:
        """Make a tool; see :func:`tool` for the usual way.

        Raises:
            ToolDefinitionError: A declaration cannot be used, or names an argument that the
                function does not have; or there is no function, or one of the wrong kind.
        """
        named = _Declared(fields)
        mapping = mapping_of(named)
        functions = _functions(named.name, fields)
        taken = {name for f in functions for name in parameters_of(f)}
        for key, argument in mapping.inputs.items():
            if argument not in taken:
                msg = (
                    f"inputs_from_state of tool {named.name!r} fills {argument!r} from {key!r}, but "
                    f"the function takes {', '.join(sorted(taken)) or 'nothing'}."
                )
                raise ToolDefinitionError(msg, tool_name=named.name)
        hidden: dict[str, Any] = {}
        if not fields.get("offers_inputs"):
            hidden = {argument: InjectedState(key) for key, argument in mapping.inputs.items()}
        for function in functions:
            hidden |= dict.fromkeys(asks_for_live_state(function), InjectedToolArg())
        super().__init__(**{**fields, "args_schema": _hiding(fields.get("args_schema"), hidden)})


def _functions(name: str, fields: Table) -> list[Callable[..., Any]]:
    """``func`` and ``coroutine``, as far as they are given."""
    found: list[Callable[..., Any]] = []
    for field, wanted in (("func", "a def"), ("coroutine", "an async def")):
        function: Any = fields.get(field)
        if function is None:
            continue
        if not callable(function) or iscoroutinefunction(function) is not (field == "coroutine"):
            msg = f"{field} of tool {name!r} is {function!r}; give {wanted} function."
            raise ToolDefinitionError(msg, tool_name=name)
        found.append(function)
    if not found:
        msg = f"Tool {name!r} has no function; give func, coroutine, or both."
        raise ToolDefinitionError(msg, tool_name=name)
    return found


class _Declared:
    """The declarations among the fields of a tool that is being made."""

    def __init__(self, fields: Table) -> None:
        self.name = str(fields.get("name"))
        self.inputs_from_state = fields.get("inputs_from_state")
        self.outputs_to_state = fields.get("outputs_to_state")
        self.outputs_to_string = fields.get("outputs_to_string")
        self.response_format = fields.get("response_format", "content")


@overload
def tool(
    name_or_callable: Callable[..., Any],
    runnable: None = None,
    **options: Any,
) -> BaseTool: ...


@overload
def tool(name_or_callable: str, runnable: Any, **options: Any) -> BaseTool: ...


@overload
def tool(
    name_or_callable: str | None = None,
    runnable: None = None,
    **options: Any,
) -> Callable[[Any], BaseTool]: ...


def tool(
    name_or_callable: str | Callable[..., Any] | None = None, runnable: Any = None, **options: Any
) -> BaseTool | Callable[[Any], BaseTool]:
    """Make a function a tool, as langchain-core's decorator of this name does, with more options.

    Args:
        name_or_callable: The function, or a name for the tool.
        runnable: A runnable to make a tool of, after its name.
        **options: Those of langchain-core (``description``, ``return_direct``, ``args_schema``,
            ``response_format``, ``parse_docstring``, ...) and the fields of :class:`StateTool`:
            ``inputs_from_state``, ``outputs_to_state``, ``outputs_to_string``. With an
            ``args_schema`` that has the arguments of ``inputs_from_state``, the model is offered
            them.

    Raises:
        ToolDefinitionError: A declaration cannot be used.
        ValueError: The function has no docstring, or langchain-core refuses it otherwise.
    """
    own = {name: options.pop(name) for name in _OWN if name in options}
    explicit = options.get("args_schema") is not None

    def finish(made: BaseTool) -> BaseTool:
        return _with_declarations(made, own, explicit=explicit)

    if runnable is not None:
        return finish(plain_tool(cast("str", name_or_callable), runnable, **options))
    if callable(name_or_callable):
        return finish(plain_tool(name_or_callable, **options))
    make = cast("Callable[..., Any]", plain_tool)
    decorate = make(**options) if name_or_callable is None else make(name_or_callable, **options)
    return lambda function: finish(decorate(function))


_OWN = ("inputs_from_state", "outputs_to_state", "outputs_to_string", "offers_inputs")


def _with_declarations(made: BaseTool, own: Table, *, explicit: bool) -> BaseTool:
    functions = [getattr(made, "func", None), getattr(made, "coroutine", None)]
    live = any(asks_for_live_state(f) for f in functions if f is not None)
    if not any(own.values()) and not live:
        return made
    if type(made) is not StructuredTool:
        msg = f"Tool {made.name!r} is no function with named arguments, so it can have no {', '.join(own)}."
        raise ToolDefinitionError(msg, tool_name=made.name)
    fields = {name: getattr(made, name) for name in StructuredTool.model_fields}
    return StateTool(**{"offers_inputs": explicit, **fields, **own})


def _hiding(schema: Any, hidden: Mapping[str, Any]) -> Any:
    """An argument schema whose hidden arguments the model is not offered."""
    if isinstance(schema, dict):
        full = cast("dict[str, Any]", schema)
        shown = {k: v for k, v in full.get("properties", {}).items() if k not in hidden}
        needed = [name for name in full.get("required", []) if name not in hidden]
        return {**full, "properties": shown, "required": needed} if hidden else full
    if not (isclass(schema) and issubclass(schema, BaseModel)):
        return schema
    fields: dict[str, Any] = {}
    for name, mark in hidden.items():
        if name in schema.model_fields:
            info = schema.model_fields[name]
            default = ... if info.is_required() else info.get_default(call_default_factory=True)
            fields[name] = (Annotated[info.annotation, mark], default)
    return create_model(schema.__name__, __base__=schema, **fields) if fields else schema
