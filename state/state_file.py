"""A state as plain data, for a file: types and handlers by name, values as JSON has them.

The form is ``{"schema": {key: {"type": text, "handler": name}}, "data": {key: value}}``. Types
are written as :mod:`interlock.state.type_notation` says. A handler is a name: ``merge_lists``,
``replace_values``, ``add_messages``, or one that the program gives a table for. Messages are
written as langchain-core writes them. Loading looks names up in the given tables only.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from langchain_core.messages import messages_from_dict, messages_to_dict
from langgraph.graph.message import add_messages
from pydantic_core import PydanticSerializationError, to_jsonable_python

from .containers import is_deeper_than
from .errors import InvalidInputError, StateSchemaError
from .reducers import merge_lists, replace_values
from .type_notation import read_type, write_type

Merge = Callable[[Any, Any], Any]

HANDLERS: Mapping[str, Merge] = {
    "merge_lists": merge_lists,
    "replace_values": replace_values,
    "add_messages": cast("Merge", add_messages),
}
"""Handlers that need no registration."""

MAX_DEPTH = 260
"""Levels of data inside data that are read; :func:`dump_state` writes fewer."""


def dump_state(
    schema: Mapping[str, Mapping[str, Any]],
    values: Mapping[str, Any],
    skip_keys: Iterable[str],
    types: Mapping[str, type] | None,
    handlers: Mapping[str, Merge] | None,
) -> dict[str, Any]:
    """Schema and values as plain data.

    A value without a JSON form is left out, with a warning that names its key.

    Args:
        schema: Type and handler per key.
        values: Values per key.
        skip_keys: Keys that are left out, of the data and of the schema.
        types: Names of the program's own types.
        handlers: Names of the program's own handlers.

    Raises:
        StateSchemaError: A handler has no name, or a type no notation.
    """
    skipped = frozenset(skip_keys)
    written: dict[str, Any] = {}
    for key, value in values.items():
        if key in skipped:
            continue
        try:
            plain = messages_to_dict(value) if key == "messages" else value
            written[key] = to_jsonable_python(plain)
        except (PydanticSerializationError, ValueError, TypeError, RecursionError) as error:
            msg = f"State key {key!r} is left out, as its value cannot be written: {error}"
            warnings.warn(msg, stacklevel=3)
    return {
        "schema": {
            key: {
                "type": write_type(entry["type"], types),
                "handler": _name_of(key, entry["handler"], handlers),
            }
            for key, entry in schema.items()
            if key not in skipped
        },
        "data": written,
    }


def load_state(
    stored: Mapping[str, Any],
    types: Mapping[str, type] | None,
    handlers: Mapping[str, Merge] | None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Schema and values out of plain data; the schema checks and rebuilds the values.

    Raises:
        StateSchemaError: A type or handler is not known.
        InvalidInputError: The data has another form, or is nested too deeply.
    """
    schema, data = _part(stored, "schema"), _part(stored, "data")
    if is_deeper_than(MAX_DEPTH, [dict(schema), dict(data)]):
        msg = f"The stored state is nested more than {MAX_DEPTH} levels deep; none is written so."
        raise InvalidInputError(msg)
    known = {**HANDLERS, **(handlers or {})}
    read: dict[str, Any] = {}
    for key, entry in schema.items():
        if not isinstance(entry, Mapping) or "type" not in entry:
            msg = f"State key {key!r} is stored without a 'type'; it is a dict with one."
            raise StateSchemaError(msg, key=key)
        stored_entry = cast("Mapping[str, Any]", entry)
        name = stored_entry.get("handler")
        if name is not None and (not isinstance(name, str) or name not in known):
            msg = (
                f"The handler {name!r} of state key {key!r} is not known; give "
                f"handlers={{{name!r}: ...}}."
            )
            raise StateSchemaError(msg, key=key)
        read[key] = {
            "type": read_type(stored_entry["type"], types),
            "handler": known[name] if name is not None else replace_values,
        }
    values = dict(data)
    if "messages" in values:
        values["messages"] = _messages(values["messages"])
    return read, values


def _part(stored: Any, name: str) -> Mapping[str, Any]:
    part = cast("Any", stored).get(name, {}) if isinstance(stored, Mapping) else None
    if not isinstance(part, Mapping):
        msg = f"A stored state is a dict with 'schema' and 'data'; {name!r} is no dict."
        raise InvalidInputError(msg, key=name)
    return cast("Mapping[str, Any]", part)


def _messages(stored: Any) -> list[Any]:
    try:
        return list(messages_from_dict(stored))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        msg = f"The stored messages cannot be read: {error}"
        raise InvalidInputError(msg, key="messages") from error


def _name_of(key: str, handler: Any, handlers: Mapping[str, Merge] | None) -> str:
    if handler is None:
        return "replace_values"
    for name, known in {**HANDLERS, **(handlers or {})}.items():
        if known is handler:
            return name
    name = getattr(handler, "__name__", "")
    if not name.isidentifier():
        msg = f"The handler of state key {key!r} has no name; give handlers={{'name': ...}}."
        raise StateSchemaError(msg, key=key)
    return str(name)
