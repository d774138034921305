"""Copies of plain containers, so that nobody changes the lists and dicts of somebody else."""

from __future__ import annotations

from typing import Any, TypeVar, cast

T = TypeVar("T")

_CONTAINERS = frozenset({list, dict, tuple, set})


def copy_containers(value: Any) -> Any:
    """The value with its lists, dicts, tuples and sets copied, at every depth.

    Everything else, such as a message, a model or a lock, is handed on as it is. Subclasses of
    the containers count as everything else.
    """
    if type(value) not in _CONTAINERS:
        return value
    if type(value) is dict:
        return {key: copy_containers(item) for key, item in cast("dict[Any, Any]", value).items()}
    items, make = cast("list[Any]", value), value.__class__
    # A long history has few kinds of messages: look at the kinds, not at each message.
    if _CONTAINERS.isdisjoint(map(type, items)):
        return make(items)
    return make(copy_containers(item) for item in items)


def with_fields(original: T, **changes: Any) -> T:
    """A copy of an object with some attributes replaced.

    It is neither checked nor made by its constructor, which for frozen dataclasses takes long.
    """
    copy = object.__new__(type(original))
    fields = copy.__dict__
    fields.update(original.__dict__)
    fields.update(changes)
    return copy


def is_deeper_than(levels: int, value: Any) -> bool:
    """Whether plain containers are nested more than so many levels deep, or in themselves."""
    waiting: list[tuple[Any, int]] = [(value, 1)]
    while waiting:
        item, level = waiting.pop()
        if type(item) not in _CONTAINERS:
            continue
        if level > levels:
            return True
        inner = cast("dict[Any, Any]", item).values() if type(item) is dict else item
        waiting += [(x, level + 1) for x in cast("list[Any]", inner) if type(x) in _CONTAINERS]
    return False
