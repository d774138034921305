"""Types written as text, such as ``list[str] | None``, and read back without importing anything."""

from __future__ import annotations

import ast
import datetime as dt
from collections.abc import Mapping
from decimal import Decimal
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin
from uuid import UUID

from langchain_core import messages as core_messages
from langchain_core.documents import Document
from langchain_core.messages import AnyMessage, BaseMessage

from .errors import StateSchemaError

LONGEST = 1_000
"""Characters of the longest type that is read."""

_PLAIN: tuple[type, ...] = (
    bool, int, float, complex, str, bytes, list, dict, tuple, set, frozenset, object,
    dt.datetime, dt.date, dt.time, dt.timedelta, Decimal, UUID, Document,
)  # fmt: skip

_MESSAGES = tuple(
    kind
    for name in core_messages.__all__
    if isinstance(kind := getattr(core_messages, name), type) and issubclass(kind, BaseMessage)
)

KNOWN: Mapping[str, Any] = {
    **{kind.__name__: kind for kind in (*_PLAIN, *_MESSAGES)},
    "None": NoneType,
    "Any": Any,
    "Literal": Literal,
    "AnyMessage": AnyMessage,
}
"""Types that need no registration, by the name they are written with."""


def write_type(kind: Any, types: Mapping[str, type] | None = None) -> str:
    """A type as text: names, ``name[...]`` and ``... | ...``.

    Args:
        kind: A class, a generic or a union.
        types: The program's own types by the name they are to be written with; others are
            written with their class's name.

    Raises:
        StateSchemaError: The type has no such notation.
    """
    for name, known in {**KNOWN, **(types or {})}.items():
        if kind is known or (kind == AnyMessage and known == AnyMessage):
            return name
    origin, args = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return write_type(args[0], types)
    if origin in (Union, UnionType):
        return " | ".join(write_type(arg, types) for arg in args)
    if origin is Literal:
        return f"Literal[{', '.join(map(repr, args))}]"
    if origin is not None and args:
        inner = ", ".join("..." if arg is ... else write_type(arg, types) for arg in args)
        return f"{write_type(origin, types)}[{inner}]"
    if origin is not None:
        return write_type(origin, types)
    if isinstance(kind, type):
        return kind.__name__
    msg = f"The type {kind!r} cannot be written; use classes, generics of classes, and unions."
    raise StateSchemaError(msg)


def read_type(text: str, types: Mapping[str, type] | None = None) -> Any:
    """The type that :func:`write_type` wrote.

    Args:
        text: The notation.
        types: The program's own types by name. Nothing else is looked up anywhere.

    Raises:
        StateSchemaError: The text is no type, or names one that is not known.
    """
    names = {**KNOWN, **(types or {})}
    if not isinstance(cast("Any", text), str) or len(text) > LONGEST:
        msg = f"A type is a text of at most {LONGEST} characters, not {str(text)[:80]!r}."
        raise StateSchemaError(msg)
    try:
        return _read(ast.parse(text.strip(), mode="eval").body, names)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError) as error:
        if isinstance(error, StateSchemaError):
            raise
        msg = f"{text!r} is no type; write names, name[...] and ... | ..."
        raise StateSchemaError(msg) from error


def _read(node: ast.expr, names: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Constant) and node.value is None:
        return NoneType
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _read(node.left, names) | _read(node.right, names)
    if isinstance(node, ast.Subscript):
        return _read_generic(node, names)
    name = ast.unparse(node)
    if not isinstance(node, (ast.Name, ast.Attribute)):
        msg = f"{name!r} is no type; write names, name[...] and ... | ..."
        raise StateSchemaError(msg)
    if name not in names:
        msg = f"The type {name!r} is not known; give types={{{name!r}: ...}}."
        raise StateSchemaError(msg)
    return names[name]


def _read_generic(node: ast.Subscript, names: Mapping[str, Any]) -> Any:
    origin = _read(node.value, names)
    inside = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if origin is Literal:
        values = tuple(ast.literal_eval(item) for item in inside)
        hash(values)  # a list or dict is no literal
        return Literal[values]
    args = tuple(
        ... if isinstance(item, ast.Constant) and item.value is ... else _read(item, names)
        for item in inside
    )
    return origin[args]
