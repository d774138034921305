"""State schemas written as a dict of types and handlers, as users of Haystack write them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from types import NoneType, UnionType
from typing import Annotated, Any, Union, cast, get_args, get_origin

from langchain_core.messages import AnyMessage, BaseMessage
from langgraph.graph.message import add_messages

from .channels import HandledValue
from .errors import StateSchemaError
from .fields import StateField, read_fields
from .reducers import Handler, merge_lists, replace_values
from .schema import AgentState

_ENTRY_KEYS = ("type", "handler")
_OWN_KEYS = ("jump_to", "structured_response")
"""Keys of every agent's state that only the library declares."""

_BASE = read_fields(AgentState)


def read_schema_dict(schema: Mapping[Any, Any]) -> dict[str, StateField]:
    """The fields of a schema such as ``{"docs": {"type": list[str], "handler": merge_lists}}``.

    Without a handler a new list is added to the present one and any other value takes its place.
    A handler is a function ``(current, new)``, pure, whose first argument is None before the
    first value. ``messages`` may be declared, as a list of messages, and is merged by id.

    Raises:
        StateSchemaError: An entry has no type, a wrong type or a wrong handler, or its key
            belongs to the library.

    Source: the state schemas of Haystack 3.4.
    """
    owner = f"{{{', '.join(map(str, schema))}}}"
    return {key: _field(key, schema[key], owner) for key in schema}


def is_type(value: Any) -> bool:
    """Whether a value is a class, a generic such as ``list[str]``, or a union of them.

    A name in quotes, an instance and a bare ``Union`` are no types.
    """
    if value is Any or isinstance(value, type):
        return True
    origin = get_origin(value)
    if origin in (Union, UnionType):
        return all(map(is_type, get_args(value)))
    return origin is not None


def takes_lists(kind: Any) -> bool:
    """Whether a type is ``list`` or ``list[...]``."""
    return kind is list or get_origin(kind) is list


def _field(key: Any, entry: Any, owner: str) -> StateField:
    if not isinstance(key, str) or not key:
        raise _refused(key, owner, "is no name; use text")
    if key in _OWN_KEYS:
        raise _refused(key, owner, "belongs to the library; choose another name")
    kind, handler = _read_entry(key, entry, owner)
    if key == "messages":
        _check_messages(kind, handler, owner)
        return _BASE[key]
    field = StateField(key, kind, owner, validated=True, nullable=True)
    merge = handler or (merge_lists if takes_lists(kind) else replace_values)
    if merge is replace_values:
        return field
    # The channel checks as the working state does, so that both hold the same value.
    adapter = field.adapter()
    checked = Handler(merge, None if adapter is None else adapter.validate_python)
    return replace(field, annotation=Annotated[kind, HandledValue(kind, checked)])


def _read_entry(key: str, entry: Any, owner: str) -> tuple[Any, Callable[[Any, Any], Any] | None]:
    """Type and handler of one key."""
    if not isinstance(entry, Mapping):
        raise _refused(key, owner, f"is declared as {entry!r}; give {{'type': ...}}")
    given = cast("Mapping[Any, Any]", entry)
    for name in given:
        if name not in _ENTRY_KEYS:
            close = get_close_matches(str(name), _ENTRY_KEYS, n=1)
            hint = (
                f"; did you mean {close[0]!r}?"
                if close
                else "; only 'type' and 'handler' are known"
            )
            raise _refused(key, owner, f"is declared with {name!r}{hint}")
    if "type" not in given:
        raise _refused(key, owner, "has no 'type'; give one, such as {'type': list[str]}")
    kind, handler = given["type"], given.get("handler")
    if not is_type(kind):
        raise _refused(
            key, owner, f"has the type {kind!r}, which is no type; give a class or a generic"
        )
    if handler is not None and not callable(handler):
        raise _refused(key, owner, f"has the handler {handler!r}; give a function (current, new)")
    return (NoneType if kind is None else kind), handler


def _check_messages(kind: Any, handler: Any, owner: str) -> None:
    """``messages`` may be declared, but not changed: every agent relies on it."""
    key = "messages"
    items = get_args(kind) if takes_lists(kind) else ()
    if not items or not _are_messages(items[0]):
        wanted = "it must be a list of messages, such as list[AnyMessage]"
        raise _refused(key, owner, f"has the type {kind!r}; {wanted}")
    if handler not in (None, merge_lists, add_messages):
        raise _refused(key, owner, "is always merged by message id; leave its handler out")


def _are_messages(kind: Any) -> bool:
    """Whether all values of a type are messages."""
    if kind == AnyMessage:
        return True
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        return all(map(_are_messages, get_args(kind)))
    if origin is Annotated:
        return _are_messages(get_args(kind)[0])
    return isinstance(kind, type) and issubclass(kind, BaseMessage)


def _refused(key: Any, owner: str, what: str) -> StateSchemaError:
    text = f"State key {key!r} of the schema {owner} {what}."
    return StateSchemaError(text, key=str(key), owners=[owner])
