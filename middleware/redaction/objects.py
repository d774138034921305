"""Values that are neither text nor plain data, changed by way of the plain data in them."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import fields, is_dataclass
from datetime import date, time, timedelta, tzinfo
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from numbers import Integral, Real
from pathlib import PurePath
from types import NoneType
from typing import Any, cast
from uuid import UUID

from pydantic import BaseModel

Each = Callable[[Any], Any]
"""What becomes of a value inside of another one; the same object if nothing does."""

_HARMLESS = (NoneType, complex, date, time, timedelta, tzinfo, UUID, Enum, range, type)
_WRITTEN = (Decimal, Fraction, PurePath)
_COLLECTIONS = (set, frozenset, deque)


def change_object(value: Any, each: Each, unknown: Each) -> Any:
    """A value with what is in it changed; the same object if nothing is.

    Sets, bytes that are text, mappings, dataclasses and pydantic models are taken apart; a number
    or path becomes text where its text changes.

    Args:
        value: Anything but text, whole numbers, dicts, lists, tuples and messages.
        each: What becomes of those.
        unknown: What becomes of a value of which nobody knows what is in it.
    """
    if isinstance(value, _HARMLESS):
        return value
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _text_in_bytes(cast("bytes", value), each)
    if isinstance(value, _COLLECTIONS):
        items = list(cast("set[Any]", value))
        new = each(items)
        return cast("Any", value) if new is items else type(cast("set[Any]", value))(new)
    if isinstance(value, Mapping):
        return _same_or_new(value, dict(cast("Mapping[Any, Any]", value)), each)
    if isinstance(value, _WRITTEN):
        return _same_or_new(value, str(value), each)
    if isinstance(value, Real):
        return _number(value, each)
    if isinstance(value, BaseModel) or is_dataclass(value):
        return _with_attributes(value, each)
    return unknown(value)


def _same_or_new(value: Any, plain: Any, each: Each) -> Any:
    new = each(plain)
    return value if new is plain else new


def _text_in_bytes(value: bytes, each: Each) -> Any:
    try:
        text = bytes(value).decode()
    except UnicodeDecodeError:
        return value
    new = each(text)
    return value if new is text else new.encode("utf-8", "surrogatepass")


def _number(value: Real, each: Each) -> Any:
    """A whole number of another type, or a float that holds one: card numbers are numbers too."""
    whole: Any = value
    if isinstance(value, Integral) or (isinstance(value, float) and value.is_integer()):
        whole = int(value)
    return value if whole is value else _same_or_new(value, whole, each)


def _with_attributes(value: Any, each: Each) -> Any:
    """An object with some attributes changed, by way of a copy: no constructor runs again."""
    new: Any = None
    for place, (name, item) in enumerate(_attributes(value)):
        # By its name an attribute is searched as the value of a key is.
        (changed,) = each({name: item}).values()
        if changed is item:
            continue
        if new is None:
            new = copy.copy(value)
        _set(new, place, name, changed)
    return value if new is None else new


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    """All attributes that hold data, in an order that copies share."""
    for store in _stores(value):
        yield from list(store.items())
    if is_dataclass(value):
        slots = [f.name for f in fields(value) if f.name not in getattr(value, "__dict__", {})]
        yield from ((name, getattr(value, name)) for name in slots if hasattr(value, name))


def _stores(value: Any) -> list[MutableMapping[str, Any]]:
    names = ("__dict__", "__pydantic_extra__", "__pydantic_private__")
    return [store for name in names if (store := getattr(value, name, None))]


def _set(copied: Any, place: int, name: str, item: Any) -> None:
    for store in _stores(copied):
        if place < len(store):
            store[name] = item
            return
        place -= len(store)
    object.__setattr__(copied, name, item)
