"""What a tool takes from the state, what it gives to it, and what of its result is shown."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from langchain_core.tools import BaseTool
from pydantic import BaseModel

from ..state.errors import ToolDefinitionError, ToolExecutionError
from ..state.reducers import HandledBy
from ..state.suggestion import did_you_mean

Handler = Callable[..., Any]


@dataclass(frozen=True)
class StateOutput:
    """What of a result goes to one state key."""

    source: str | None = None
    """The part of the result; None for all of it."""
    handler: Handler | None = None
    """``(current, new)``, in place of the key's own merge function."""


@dataclass(frozen=True)
class TextOutput:
    """What of a result the model reads."""

    source: str | None = None
    """The part of the result; None for all of it."""
    handler: Handler | None = None
    """Makes text of it."""
    raw: bool = False
    """It is message content as it stands: text or content blocks."""


@dataclass(frozen=True)
class StateMapping:
    """The declarations of one tool."""

    inputs: Mapping[str, str] = field(default_factory=dict[str, str])
    """State key to argument."""
    outputs: Mapping[str, StateOutput] = field(default_factory=dict[str, StateOutput])
    """State key to what it is given."""
    text: TextOutput | Mapping[str, TextOutput] | None = None
    """One output, or several under names of their own; None for the whole result."""

    @property
    def raw(self) -> bool:
        """What is shown is message content as it stands."""
        return isinstance(self.text, TextOutput) and self.text.raw

    @property
    def replaced(self) -> frozenset[str]:
        """Keys that are merged by a function of the tool."""
        return frozenset(key for key, out in self.outputs.items() if out.handler is not None)


def mapping_of(tool: Any) -> StateMapping:
    """The declarations on a tool: ``inputs_from_state``, ``outputs_to_state``, ``outputs_to_string``.

    Raises:
        ToolDefinitionError: One of them has a form that cannot be used.

    Source: the tools of Haystack 3.4.
    """
    given = {
        name: getattr(tool, name, None)
        for name in ("inputs_from_state", "outputs_to_state", "outputs_to_string")
    }
    if not any(given.values()):
        return _NOTHING
    name = str(getattr(tool, "name", tool))
    pair = getattr(tool, "response_format", "content") == "content_and_artifact"
    if pair and (given["outputs_to_state"] or given["outputs_to_string"]):
        raise _refused(name, "it returns content and artifact, so it cannot declare outputs")
    return StateMapping(
        inputs=_inputs(name, given["inputs_from_state"]),
        outputs={
            key: StateOutput(**_spec(name, f"outputs_to_state[{key!r}]", entry, _STATE))
            for key, entry in _table(name, "outputs_to_state", given["outputs_to_state"]).items()
        },
        text=_text(name, given["outputs_to_string"]),
    )


_NOTHING = StateMapping()
_STATE = ("source", "handler")
_TEXT = ("source", "handler", "raw_result")


def check_state_keys(
    tools: Iterable[BaseTool], readable: Iterable[str], writable: Iterable[str]
) -> None:
    """Refuse tools that name state keys which the agent does not have.

    Args:
        tools: The tools of an agent.
        readable: State keys that a tool may read.
        writable: State keys that a tool may update.

    Raises:
        ToolDefinitionError: With the tool, the key, and the key that may be meant.
    """
    read, write = list(readable), list(writable)
    for tool in tools:
        mapping = mapping_of(tool)
        for setting, keys, known in (
            ("inputs_from_state", mapping.inputs, read),
            ("outputs_to_state", mapping.outputs, write),
        ):
            for key in keys:
                if key not in known:
                    msg = (
                        f"{setting} of tool {tool.name!r} names the state key {key!r}, which the "
                        f"agent does not have; declare it in state_schema.{did_you_mean(key, known)}"
                    )
                    raise ToolDefinitionError(msg, tool_name=tool.name)


def state_updates(mapping: StateMapping, result: Any) -> dict[str, Any]:
    """The new values by state key that a result gives; a part that is missing gives none."""
    updates: dict[str, Any] = {}
    parts = _parts_of(result)
    for key, out in mapping.outputs.items():
        if out.source is not None and out.source not in parts:
            continue
        value = result if out.source is None else parts[out.source]
        updates[key] = value if out.handler is None else HandledBy(value, out.handler)
    return updates


def shown_result(tool_name: str, mapping: StateMapping, result: Any) -> Any:
    """What of a result the model is to read.

    Raises:
        ToolExecutionError: The result lacks a part that is to be shown.
    """
    text = mapping.text
    if text is None:
        return result
    if isinstance(text, TextOutput):
        return _shown(tool_name, text, result)
    return {name: _shown(tool_name, out, result) for name, out in text.items()}


def _shown(tool_name: str, out: TextOutput, result: Any) -> Any:
    value = result
    if out.source is not None:
        parts = _parts_of(result)
        if out.source not in parts:
            msg = (
                f"Tool {tool_name!r} is to show {out.source!r} of its result, which has "
                f"{', '.join(map(repr, parts)) or 'no parts'}."
            )
            raise ToolExecutionError(msg, tool_name=tool_name)
        value = parts[out.source]
    value = value if out.handler is None else out.handler(value)
    if out.raw and not isinstance(value, (str, list)):
        msg = f"Tool {tool_name!r} is to show its result as it stands; give text or content blocks."
        raise ToolExecutionError(msg, tool_name=tool_name)
    return cast("Any", value)


def _parts_of(result: Any) -> Mapping[str, Any]:
    """A result taken apart: the items of a dict, the fields of a model or dataclass."""
    if isinstance(result, Mapping):
        return cast("Mapping[str, Any]", result)
    if isinstance(result, BaseModel):
        return {name: getattr(result, name) for name in type(result).model_fields}
    if dataclasses.is_dataclass(result) and not isinstance(result, type):
        return {spec.name: getattr(result, spec.name) for spec in dataclasses.fields(result)}
    return {}


def _inputs(name: str, given: Any) -> dict[str, str]:
    table = _table(name, "inputs_from_state", given)
    for key, argument in table.items():
        if not isinstance(argument, str) or not argument:
            what = f"inputs_from_state[{key!r}] is {argument!r}; give the name of an argument"
            raise _refused(name, what)
    arguments = list(table.values())
    if twice := {a for a in arguments if arguments.count(a) > 1}:
        what = f"inputs_from_state fills {', '.join(sorted(twice))} from two state keys"
        raise _refused(name, what)
    return table


def _text(name: str, given: Any) -> TextOutput | dict[str, TextOutput] | None:
    table = _table(name, "outputs_to_string", given)
    if not table:
        return None
    if set(table) <= set(_TEXT):
        return _text_output(name, "outputs_to_string", table)
    return {
        key: _text_output(name, f"outputs_to_string[{key!r}]", entry)
        for key, entry in table.items()
    }


def _text_output(name: str, where: str, entry: Any) -> TextOutput:
    spec = _spec(name, where, entry, _TEXT)
    raw = spec.pop("raw_result", False)
    if not isinstance(raw, bool):
        raise _refused(name, f"{where} has raw_result {raw!r}; give True or False")
    return TextOutput(**spec, raw=raw)


def _table(name: str, setting: str, given: Any) -> dict[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(k, str) for k in cast("Any", given)):
        raise _refused(name, f"{setting} is {given!r}; give a dict by name")
    return dict(cast("Mapping[str, Any]", given))


def _spec(name: str, where: str, entry: Any, known: Iterable[str]) -> dict[str, Any]:
    spec = _table(name, where, entry)
    for word in spec:
        if word not in known:
            what = f"{where} has {word!r}; it takes {', '.join(known)}.{did_you_mean(word, known)}"
            raise _refused(name, what)
    source, handler = spec.get("source"), spec.get("handler")
    if source is not None and not isinstance(source, str):
        raise _refused(name, f"{where} has the source {source!r}; give the name of a part")
    if handler is not None and not callable(handler):
        raise _refused(name, f"{where} has the handler {handler!r}; give a function")
    return spec


def _refused(name: str, what: str) -> ToolDefinitionError:
    text = f"Tool {name!r}: {what}."
    return ToolDefinitionError(text, tool_name=name)
