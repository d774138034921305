"""Strict storage: a thread's bytes rebuild messages, plain data and declared types, nothing else.

langgraph's default serializer imports and calls whatever a checkpoint names. Here the types that
an agent declares are collected when it is built, every other name in stored bytes stays data, and
a value of an undeclared type is refused when it is written, by key and type, so that nothing is
lost without a word.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Iterable, Mapping
from copy import copy
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from inspect import isclass
from pathlib import PurePath
from typing import Any, cast, get_args, get_type_hints
from uuid import UUID

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.types import Command, Interrupt, Overwrite, Send
from pydantic import BaseModel

from .errors import UnstorableValueError
from .serializer import StrictSerializer

PLAIN_TYPES: tuple[type, ...] = (
    bool, int, float, complex, str, bytes, bytearray, type(None),
    datetime, date, time, timedelta, timezone, Decimal, UUID, PurePath,
    BaseMessage, Document,
)  # fmt: skip
"""Types that are stored whether or not a schema declares them."""

_TOO_WIDE = frozenset({BaseModel, Enum})
"""Classes whose mention declares nothing: half the program derives from them."""

_CORE_MESSAGES = "langchain_core.messages."
"""Where the classes are whose fields hold plain data; every agent mentions them."""

_CONTAINERS = (dict, list, tuple, set, frozenset, deque)
_SIGNALS = (Command, Send, Interrupt, Overwrite)


def declared_types(annotations: Iterable[Any]) -> frozenset[type]:
    """Every class that the annotations mention, those inside generics and models included."""
    found: set[type] = set()
    waiting: list[Any] = list(annotations)
    seen: set[int] = set()
    while waiting:
        annotation = waiting.pop()
        if id(annotation) in seen:
            continue
        seen.add(id(annotation))
        waiting.extend(get_args(annotation))
        kind: Any = getattr(annotation, "__origin__", annotation)
        if not isclass(kind):
            continue
        if kind in _TOO_WIDE:
            continue
        if issubclass(kind, (BaseModel, Enum)) or dataclasses.is_dataclass(kind):
            found.add(kind)
            waiting.extend(kind.__subclasses__())
        if kind.__module__.startswith(_CORE_MESSAGES):
            continue
        if issubclass(kind, (BaseModel, dict)) or dataclasses.is_dataclass(kind):
            waiting.extend(_hints(cast("Any", kind)))
    return frozenset(found)


@lru_cache(maxsize=1024)
def _hints(kind: Any) -> tuple[Any, ...]:
    """The annotations of a class, which many agents mention."""
    try:
        return tuple(get_type_hints(kind, include_extras=True).values())
    except (NameError, TypeError):
        return ()


def strict_checkpointer(checkpointer: Any, types: Iterable[type]) -> Any:
    """The checkpointer with a strict serializer, if it has langgraph's permissive default.

    The caller's checkpointer is not changed: the result is a shallow copy that shares its
    connection and its data. Any other serializer is a choice and stays.
    """
    if not isinstance(checkpointer, BaseCheckpointSaver):
        return checkpointer
    saver = cast("BaseCheckpointSaver[Any]", checkpointer)
    serde = getattr(saver, "serde", None)
    permissive = getattr(serde, "_allowed_msgpack_modules", None) is True
    if type(serde) is not JsonPlusSerializer or not permissive:
        return saver
    strict = copy(saver)
    strict.serde = StrictSerializer(types)
    return strict


def widened_checkpointer(checkpointer: Any, types: Iterable[type]) -> Any:
    """The checkpointer of a graph for one inside it, which declares further types.

    A strict serializer then rebuilds those, too; any other one stays as it is.
    """
    serde = getattr(checkpointer, "serde", None)
    if not isinstance(serde, StrictSerializer) or serde.knows(types):
        return checkpointer
    wide = copy(checkpointer)
    wide.serde = serde.widened(types)
    return wide


def check_storable(values: Mapping[str, Any], types: frozenset[type]) -> None:
    """Refuse an update whose values could not be rebuilt from storage.

    Raises:
        UnstorableValueError: A value, at any depth, is of a type that is neither plain data, nor
            a message, nor declared in a schema.
    """
    for key, value in values.items():
        if (kind := _first_unstorable(value, types)) is not None:
            name = f"{kind.__module__}.{kind.__qualname__}"
            msg = (
                f"State key {key!r} holds a {name}, which a thread cannot store; declare the type "
                "in the state schema, or keep plain data."
            )
            raise UnstorableValueError(msg, key=key, type_name=name)


def _first_unstorable(value: Any, types: frozenset[type]) -> type | None:
    kind = type(cast("object", value))
    if isinstance(value, BaseMessage):
        extra = (value.additional_kwargs, value.response_metadata, getattr(value, "artifact", None))
        return _first_in(extra, types)
    if isinstance(value, (*PLAIN_TYPES, *_SIGNALS)):
        return None
    if kind in types:
        return None
    if isinstance(value, dict):
        pairs = cast("dict[Any, Any]", value).items()
        return _first_in((x for pair in pairs for x in pair), types)
    if isinstance(value, _CONTAINERS):
        return _first_in(cast("Iterable[Any]", value), types)
    return kind


def _first_in(values: Iterable[Any], types: frozenset[type]) -> type | None:
    return next((k for k in (_first_unstorable(v, types) for v in values) if k is not None), None)
