"""Conditions on the metadata of memories, in the store's form or in Haystack's.

``{"topic": "travel", "year": {"$gte": 2020}}``, or ``{"operator": "AND", "conditions": [{"field":
"meta.topic", "operator": "==", "value": "travel"}]}``. They see nothing but a memory's metadata,
so they can narrow a search and never widen it.
"""

from __future__ import annotations

import operator
import reprlib
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

from ...state.errors import InvalidInputError
from .scope import SCOPE_KEYS

Condition = Callable[[Mapping[str, Any]], bool]
"""Whether metadata fit."""

T = TypeVar("T")

_DEEPEST = 16

_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "in": lambda value, wanted: value in wanted,
    "not in": lambda value, wanted: value not in wanted,
}
_STORE_NAMES = {
    "$eq": "==",
    "$ne": "!=",
    "$gt": ">",
    "$gte": ">=",
    "$lt": "<",
    "$lte": "<=",
    "$in": "in",
    "$nin": "not in",
}
_JOIN: dict[str, Callable[[list[Condition]], Condition]] = {
    "AND": lambda parts: lambda metadata: all(part(metadata) for part in parts),
    "OR": lambda parts: lambda metadata: any(part(metadata) for part in parts),
    "NOT": lambda parts: lambda metadata: not all(part(metadata) for part in parts),
}


def read_filters(filters: Any, depth: int = 0) -> Condition:
    """The condition that filters stand for.

    Args:
        filters: None for no condition, or a dict in one of the two forms.
        depth: How deep the filters are inside of others.

    Raises:
        InvalidInputError: They have neither form, or name the scope, which only ids can set.
    """
    if filters is None:
        return lambda _: True
    if not isinstance(filters, Mapping) or depth > _DEEPEST:
        raise _invalid(filters, "is no condition")
    given = cast("Mapping[Any, Any]", filters)
    if "operator" not in given:
        return _JOIN["AND"]([_by_key(key, value) for key, value in given.items()])
    name = given["operator"]
    if "field" in given:
        return _compare(_path(given["field"]), name, given.get("value"))
    join, conditions = _named(_JOIN, name), given.get("conditions")
    if join is None or not isinstance(conditions, list):
        raise _invalid(filters, "has no known operator with a list of conditions")
    return join([read_filters(c, depth + 1) for c in cast("list[Any]", conditions)])


def _by_key(key: Any, value: Any) -> Condition:
    """A condition in the store's form."""
    path = _path(key)
    if not isinstance(value, Mapping):
        return _compare(path, "==", value)
    wanted = cast("Mapping[Any, Any]", value)
    return _JOIN["AND"](
        [_compare(path, _named(_STORE_NAMES, n) or n, v) for n, v in wanted.items()]
    )


def _path(field: Any) -> list[str]:
    if not isinstance(field, str) or not field:
        raise _invalid(field, "is no name of a metadata field")
    path = field.removeprefix("meta.").removeprefix("metadata.").split(".")
    if path[0] in SCOPE_KEYS:
        raise _invalid(field, "is set by the scope of the run and cannot be filtered by")
    return path


def _compare(path: list[str], name: Any, wanted: Any) -> Condition:
    compare = _named(_COMPARE, name)
    if compare is None:
        raise _invalid(name, f"is no operator; they are {', '.join(_COMPARE)}")
    if name in ("in", "not in") and not isinstance(wanted, (list, tuple, set, frozenset)):
        raise _invalid(wanted, f"is no list, which {name!r} needs")

    def fits(metadata: Mapping[str, Any]) -> bool:
        try:
            return bool(compare(_value(metadata, path), wanted))
        except TypeError:
            # A text is neither below nor above a number.
            return False

    return fits


def _value(metadata: Mapping[str, Any], path: list[str]) -> Any:
    value: Any = metadata
    for name in path:
        value = cast("Mapping[str, Any]", value).get(name) if isinstance(value, Mapping) else None
    return value


def _named(functions: Mapping[str, T], name: Any) -> T | None:
    """The function of a name, which may be anything."""
    return functions.get(name) if isinstance(name, str) else None


def _invalid(what: Any, why: str) -> InvalidInputError:
    # reprlib's repr ends, however deep the filter goes.
    msg = f"The filter {reprlib.repr(what)} {why}; see SearchCriteria for the two forms."
    return InvalidInputError(msg, key="filters")
