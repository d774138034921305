"""The serializer of threads: rebuilds messages and declared types, and calls nothing else.

langgraph's serializer imports the module that stored bytes name. This one looks declared types up
in a table made when the agent was built, so a class need not be importable, and hands everything
else to langgraph's in its strict mode, where unknown names stay data.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any, cast

from langchain_core import messages as core_messages
from langchain_core.messages import BaseMessage
from langgraph.checkpoint.serde import jsonplus
from langgraph.checkpoint.serde.jsonplus import (
    EXT_CONSTRUCTOR_KW_ARGS,
    EXT_CONSTRUCTOR_SINGLE_ARG,
    EXT_DELTA_SNAPSHOT,
    EXT_PYDANTIC_V2,
    JsonPlusSerializer,
)
from langgraph.checkpoint.serde.types import (
    _DeltaSnapshot,  # pyright: ignore[reportPrivateUsage] - the type that full copies are stored as
)
from pydantic import BaseModel, ValidationError

ormsgpack: Any = vars(jsonplus)["ormsgpack"]
"""The packer that langgraph stores with: its dependency, not ours."""

_REBUILT_HERE = frozenset({EXT_CONSTRUCTOR_KW_ARGS, EXT_CONSTRUCTOR_SINGLE_ARG, EXT_PYDANTIC_V2})

_MESSAGES: tuple[type[BaseMessage], ...] = tuple(
    kind
    for name in core_messages.__all__
    if name.endswith("Message")
    and isinstance(kind := getattr(core_messages, name), type)
    and issubclass(kind, BaseMessage)
)


class StrictSerializer(JsonPlusSerializer):
    """Stores like langgraph's serializer; loads messages, plain data and the given types only."""

    def __init__(self, types: Iterable[type]) -> None:
        declared = tuple(types)
        names = [(kind.__module__, kind.__name__) for kind in declared]
        super().__init__(allowed_msgpack_modules=names or None)
        self._types = {(k.__module__, k.__name__): k for k in (*_MESSAGES, *declared)}
        self._strict: Callable[[int, bytes], Any] = self._unpack_ext_hook
        self._unpack_ext_hook = self._load

    def knows(self, types: Iterable[type]) -> bool:
        """Whether these types are rebuilt."""
        return all(self._types.get((kind.__module__, kind.__name__)) is kind for kind in types)

    def widened(self, types: Iterable[type]) -> StrictSerializer:
        """A serializer that rebuilds these types, too."""
        return StrictSerializer([*self._types.values(), *types])

    def _load(self, code: int, data: bytes) -> Any:
        """Rebuild one stored object, the ones inside it first."""
        if code == EXT_DELTA_SNAPSHOT:
            return _DeltaSnapshot(self._unpack(data))
        if code in _REBUILT_HERE:
            entry: Any = self._unpack(data)
            kind = self._types.get((entry[0], entry[1])) if len(entry) > 2 else None  # noqa: PLR2004
            if kind is not None:
                return rebuild(kind, entry[2])
        return self._strict(code, data)

    def _unpack(self, data: bytes) -> Any:
        return ormsgpack.unpackb(data, ext_hook=self._load, option=ormsgpack.OPT_NON_STR_KEYS)


def rebuild(kind: type[Any], stored: Any) -> Any:
    """An object of a declared type from what was stored of it, or the stored data itself.

    Messages are put together without validation: they were messages when they were stored.
    """
    if issubclass(kind, BaseMessage):
        return kind.model_construct(**stored)
    try:
        if issubclass(kind, BaseModel):
            return _rebuild_model(kind, stored)
        if issubclass(kind, Enum):
            return kind(stored)
        if dataclasses.is_dataclass(kind):
            return _rebuild_dataclass(kind, stored)
    except (TypeError, ValueError, AttributeError):
        # The type has changed since: data is better than nothing.
        return stored
    return stored


def _rebuild_model(kind: type[BaseModel], stored: dict[str, Any]) -> BaseModel:
    try:
        return kind(**stored)
    except ValidationError:
        return kind.model_construct(**stored)


def _rebuild_dataclass(kind: type[Any], stored: dict[str, Any]) -> Any:
    """A dataclass instance, fields that its constructor does not take included."""
    specs = dataclasses.fields(cast("Any", kind))
    instance = cast("Any", kind)(
        **{s.name: stored[s.name] for s in specs if s.init and s.name in stored}
    )
    for spec in specs:
        if not spec.init and spec.name in stored:
            object.__setattr__(instance, spec.name, stored[spec.name])
    return instance
