"""The state as an object: read like a mapping, written with ``set``, merged by schema."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Self, cast

from langchain_core.messages import BaseMessage

# Private, but what ToolRuntime derives from: it keeps an argument of this type from the model.
from langchain_core.tools.base import (
    _DirectlyInjectedToolArg,  # pyright: ignore[reportPrivateUsage]
)
from langgraph.channels.base import BaseChannel
from langgraph.channels.binop import BinaryOperatorAggregate
from langgraph.graph.message import add_messages
from pydantic_core import core_schema

from .channels import LastWrite, messages_channel
from .containers import copy_containers
from .errors import InvalidInputError, InvalidInputTypeError, InvalidUpdateError
from .fields import StateField, read_fields
from .merge import function_of, read_schema
from .reducers import HandledBy
from .schema import AgentState
from .state_file import dump_state, load_state
from .suggestion import did_you_mean
from .working import KeyRules, WorkingState

_MESSAGES = read_fields(AgentState)["messages"]


class State(Mapping[str, Any], _DirectlyInjectedToolArg):
    """Values that an agent, its tools and its hooks share, merged key by key as a schema says.

    Reading is that of a mapping: ``state["docs"]``, ``state.get("docs", [])``, ``"docs" in state``.
    What is read are copies: changing a list that was read changes nothing here; objects other than
    plain containers are handed out as they are. Writing goes through :meth:`set` alone.
    ``messages`` is always there, and merged by message id.

    A tool or hook whose parameter is annotated ``State`` is given the agent's own.
    """

    def __init__(self, schema: Any, data: Mapping[str, Any] | None = None) -> None:
        """Make a state of its own, outside of any agent.

        Args:
            schema: Per key a dict with ``type`` and, if wanted, ``handler``; or a TypedDict,
                dataclass or pydantic model. It is not changed.
            data: First values by key, taken as they are, without a handler, and copied.

        Raises:
            StateSchemaError: The schema cannot be read.
            InvalidInputError: ``data`` has a key that the schema does not declare.
            InvalidInputTypeError: A value does not fit its type.
        """
        fields = {"messages": _MESSAGES, **read_schema(schema)}
        self._fields: Mapping[str, StateField] = fields
        self._work = WorkingState({}, rules_of(fields))
        self._owner = "State.set"
        for key, value in (data or {}).items():
            self._take(key, value)

    @property
    def schema(self) -> dict[str, dict[str, Any]]:
        """Type and merge function of each key; None where the last value stays."""
        return {
            key: {"type": field.value_type, "handler": function_of(field.reducer)}
            for key, field in self._fields.items()
        }

    @property
    def data(self) -> Mapping[str, Any]:
        """All current values, copied, as a mapping that cannot be changed."""
        return MappingProxyType(dict(self))

    def has(self, key: str) -> bool:
        """Whether ``key`` has a value, None included."""
        return key in self

    def set(
        self,
        key: str,
        value: Any,
        handler_override: Callable[[Any, Any], Any] | None = None,
    ) -> None:
        """Merge a value into ``key``; the next reader sees the result.

        Args:
            key: A declared key.
            value: What the key's handler is given as the new value.
            handler_override: ``(current, new)``, used this once in place of the key's handler.

        Raises:
            InvalidUpdateError: The key is not declared, the merged value does not fit its type,
                the value is nested too deeply, or the handler fails. Nothing has changed then.
        """
        if handler_override is not None and not callable(handler_override):
            msg = f"handler_override is {handler_override!r}; give a function (current, new)."
            raise InvalidUpdateError(msg, owner=self._owner, key=key)
        fresh = self._copied(key, value)
        merged = fresh if handler_override is None else HandledBy(fresh, handler_override)
        self._work.apply({key: merged}, self._owner)

    def to_dict(
        self,
        skip_keys: Iterable[str] = (),
        *,
        types: Mapping[str, type] | None = None,
        handlers: Mapping[str, Callable[[Any, Any], Any]] | None = None,
    ) -> dict[str, Any]:
        """Schema and data as plain data, see :mod:`interlock.state.state_file`."""
        values = {k: v for k, v in self._work.values.items() if k in self._fields}
        return dump_state(self.schema, values, skip_keys, types, handlers)

    @classmethod
    def from_dict(
        cls,
        data: Mapping[str, Any],
        *,
        types: Mapping[str, type] | None = None,
        handlers: Mapping[str, Callable[[Any, Any], Any]] | None = None,
    ) -> Self:
        """The state that :meth:`to_dict` made ``data`` of; nothing is imported by name.

        Raises:
            StateSchemaError: A type or handler is not known.
            InvalidInputError: The data has another form, is nested too deeply, or does not fit
                its types.
        """
        schema, values = load_state(data, types, handlers)
        return cls(schema, values)

    def __getitem__(self, key: str) -> Any:
        return copy_containers(self._work.values[key])

    def __contains__(self, key: object) -> bool:
        return key in self._work.values

    def __iter__(self) -> Iterator[str]:
        return iter([*self._work.values])

    def __len__(self) -> int:
        return len(self._work.values)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self)})"

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> core_schema.CoreSchema:
        return core_schema.is_instance_schema(cls)

    def _copied(self, key: str, value: Any) -> Any:
        try:
            return copy_containers(value)
        except RecursionError as error:
            msg = f"{self._owner} gives state key {key!r} a value that is nested too deeply."
            raise InvalidUpdateError(msg, owner=self._owner, key=key) from error

    def _take(self, key: str, value: Any) -> None:
        """Take a first value over as it is."""
        if key not in self._fields:
            known = ", ".join(self._fields)
            hint = did_you_mean(key, self._fields)
            msg = f"The data has the key {key!r}; the schema declares {known}.{hint}"
            raise InvalidInputError(msg, key=key)
        try:
            fresh = self._copied(key, value)
            if key == "messages":
                fresh = _without_shared_ids(fresh)
            self._work.apply({key: HandledBy(fresh, _the_new)}, "The data")
        except InvalidUpdateError as error:
            raise InvalidInputTypeError(str(error), key=key) from error


def _without_shared_ids(messages: Any) -> Any:
    """Copies of the messages that are about to get an id; the caller's stay as they are."""
    if not isinstance(messages, (list, tuple)):
        return messages
    return [
        m.model_copy() if isinstance(m, BaseMessage) and m.id is None else m
        for m in cast("Iterable[Any]", messages)
    ]


def rules_of(fields: Mapping[str, StateField]) -> KeyRules:
    """How the keys of a schema take an update, outside of any graph."""
    validators = {
        key: adapter
        for key, field in fields.items()
        if field.validated and (adapter := field.adapter()) is not None
    }
    return KeyRules({key: _channel(field) for key, field in fields.items()}, validators)


def _channel(field: StateField) -> BaseChannel[Any, Any, Any]:
    reducer = field.reducer
    if reducer is add_messages:
        return messages_channel("delta")
    if isinstance(reducer, BaseChannel):
        return cast("BaseChannel[Any, Any, Any]", reducer)
    if isinstance(reducer, type):
        return cast("BaseChannel[Any, Any, Any]", reducer(field.value_type))
    if reducer is not None:
        return BinaryOperatorAggregate(field.value_type, reducer)
    return LastWrite(field.value_type)


def _the_new(_current: Any, new: Any) -> Any:
    return new
