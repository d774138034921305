"""The messages channel: appends without looking at old messages, stores only what is new."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, Self, TypeVar, cast, get_args

from langchain_core.messages import BaseMessage
from langgraph.channels.base import BaseChannel
from langgraph.channels.binop import BinaryOperatorAggregate
from langgraph.channels.delta import DeltaChannel
from langgraph.channels.last_value import LastValue
from langgraph.graph.message import add_messages
from pydantic import ValidationError

from .errors import ConfigurationError, InvalidUpdateError
from .reducers import first_messages, fold_messages, index_messages, stamp_messages
from .stored_run import unreadable

ChannelT = TypeVar("ChannelT", bound=BaseChannel[Any, Any, Any])

MessageStorage = Literal["delta", "full"]
"""How a thread keeps its messages: new ones only with regular snapshots, or all of them each step."""

SNAPSHOT_FREQUENCY = 50
"""Updates between two full copies of the messages in a thread's storage."""


def replay_messages(base: list[BaseMessage], updates: Sequence[Any]) -> list[BaseMessage]:
    """``base`` with stored updates merged in, oldest first: the reducer of the channel."""
    messages = list(base)
    index = index_messages(messages)
    for update in updates:
        messages = fold_messages(messages, stamp_messages(update), index)
    return messages


class MessagesChannel(DeltaChannel[list[BaseMessage]]):
    """``add_messages`` as a channel whose work and storage per step do not grow with the thread.

    It keeps the position of each message id, so that a new message is appended without a look
    at the old ones, and it stores updates with a full copy every ``snapshot_frequency`` updates.
    A thread that was written with plain ``add_messages`` is read as it is.
    """

    __slots__ = ("_index",)

    def __init__(
        self,
        reducer: Any = replay_messages,
        typ: Any = list,
        *,
        snapshot_frequency: int = SNAPSHOT_FREQUENCY,
    ) -> None:
        super().__init__(reducer, typ, snapshot_frequency=snapshot_frequency)
        self.typ = list
        self._index: dict[str | None, int] | None = None

    def copy(self) -> Self:
        """A channel with the same value that can be updated on its own."""
        new = super().copy()
        new._index = None  # noqa: SLF001 - a copy of this very class
        return new

    def update(self, values: Sequence[Any]) -> bool:
        """Merge the updates of one step; a plain append costs its own length only."""
        if not values:
            return False
        if not self.is_available() or not all(map(_is_messages, values)):
            self._index = None
            return super().update(values)
        messages = cast("list[BaseMessage]", self.value)
        if not messages and (first := first_messages(values)) is not None:
            self.value, self._index = first
            return True
        if self._index is None:
            self._index = index_messages(messages)
        for update in values:
            messages = fold_messages(messages, stamp_messages(update), self._index)
        self.value = messages
        return True

    def from_checkpoint(self, checkpoint: Any) -> Self:
        """A channel with the stored messages.

        Raises:
            StorageError: Something else is stored.
        """
        return _checked(super().from_checkpoint(checkpoint))

    def replay_writes(self, writes: Sequence[Any]) -> None:
        """Rebuild the value from stored updates.

        Raises:
            StorageError: One of them is no update of messages.
        """
        self._index = None
        try:
            super().replay_writes(writes)
        except (TypeError, ValueError, LookupError, AttributeError, NotImplementedError) as error:
            raise unreadable(self.key) from error


class AllMessages(BinaryOperatorAggregate[Any]):
    """``add_messages`` as langgraph has it, which stores all messages at each step."""

    __slots__ = ()

    def from_checkpoint(self, checkpoint: Any) -> Self:
        """A channel with the stored messages.

        Raises:
            StorageError: Something else is stored.
        """
        return _checked(super().from_checkpoint(checkpoint))


class LastWrite(LastValue[Any]):
    """A plain state key that parallel tools may write: the last write in call order stays.

    langgraph hands the writes of a step over in the order of the tasks, which is that of the
    calls, so the result does not depend on which tool was faster.
    """

    __slots__ = ()

    def update(self, values: Sequence[Any]) -> bool:
        """Keep the last value of the step."""
        return super().update(values[-1:])


class HandledValue(BinaryOperatorAggregate[Any]):
    """A state key with a merge function of its own, which is given None as the first value.

    langgraph begins with an empty value of the declared type; a handler of a schema dict begins
    with nothing, and a key that was never written stays absent.
    """

    __slots__ = ()

    def __init__(self, typ: Any, operator: Callable[[Any, Any], Any]) -> None:
        super().__init__(typ, operator)
        self.value = _NOTHING

    def update(self, values: Sequence[Any]) -> bool:
        """Merge the updates of one step, in call order.

        Raises:
            InvalidUpdateError: The merged value does not fit the key's type.
        """
        if values and not self.is_available():
            self.value = None
        try:
            return super().update(values)
        except ValidationError as error:
            details = "; ".join(str(e["msg"]) for e in error.errors(include_url=False))
            msg = f"An update gives state key {self.key!r} a value that does not fit it: {details}."
            raise InvalidUpdateError(msg, owner="The update", key=self.key) from error


_NOTHING: Any = cast("Any", LastValue(Any)).value
"""How langgraph marks a channel without a value."""


def _is_messages(update: Any) -> bool:
    """Whether an update is a list of messages, not an ``Overwrite`` or another notation."""
    return isinstance(update, list) and all(
        issubclass(kind, BaseMessage) for kind in set(map(type, cast("list[Any]", update)))
    )


def _checked(channel: ChannelT) -> ChannelT:
    """The channel, if it holds messages or nothing."""
    if channel.is_available() and not _is_messages(channel.get()):
        raise unreadable(channel.key)
    return channel


def messages_channel(storage: MessageStorage) -> MessagesChannel | BinaryOperatorAggregate[Any]:
    """The channel behind a state key whose reducer is ``add_messages``.

    Raises:
        ConfigurationError: There is no such storage.
    """
    if storage not in get_args(MessageStorage):
        msg = f"message_storage is {storage!r}; give 'delta' or 'full'."
        raise ConfigurationError(msg)
    if storage == "full":
        return AllMessages(list, add_messages)
    return MessagesChannel()
