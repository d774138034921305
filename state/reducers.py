"""Reducers: how a new value of a state key meets the one that is there.

The messages reducer is split in two: :func:`stamp_messages` makes any accepted notation into
messages with ids, once, where an update is born; :func:`fold_messages` merges stamped updates and
is deterministic, so stored updates can be replayed.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, cast

from langchain_core.messages import (
    BaseMessage,
    BaseMessageChunk,
    RemoveMessage,
    convert_to_messages,
    message_chunk_to_message,
)
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from .containers import copy_containers

ID = attrgetter("id")
"""The id of a message, for looking at a long history with one call of Python's own functions."""

CONTENT = attrgetter("content")
"""Its content, for the same."""


def merge_lists(current: Any, new: Any) -> list[Any]:
    """Both values as one list: ``None`` adds nothing, tuples and sets add their items."""
    return [*_items(current), *_items(new)]


def replace_values(current: Any, new: Any) -> Any:  # noqa: ARG001
    """The new value."""
    return new


@dataclass(frozen=True)
class Handler:
    """A user's merge function, given a copy of the present value so that it may change it."""

    function: Callable[[Any, Any], Any]
    check: Callable[[Any], Any] | None = field(default=None, compare=False)
    """Makes the merged value one of the key's type, or refuses it."""

    def __call__(self, current: Any, new: Any) -> Any:
        """The merged value; ``current`` is None before the first value."""
        present = current if self.function is merge_lists else copy_containers(current)
        merged = self.function(present, new)
        return merged if self.check is None else self.check(merged)

    @property
    def __name__(self) -> str:  # langgraph compares reducers by name
        return getattr(self.function, "__name__", type(self.function).__name__)


@dataclass(frozen=True)
class HandledBy:
    """An update that is merged by a function of its own instead of the reducer of its key."""

    value: Any
    handler: Callable[[Any, Any], Any]
    """``(current, new)``; the present value is None where there is none."""

    def merged_into(self, current: Any) -> Any:
        """The value of the key after this update."""
        return Handler(self.handler)(current, self.value)


def _items(value: Any) -> list[Any]:
    if value is None:
        return []
    if isinstance(value, (list, tuple, set, frozenset)):
        return list(cast("Iterable[Any]", value))
    return [value]


def stamp_messages(update: Any) -> list[BaseMessage]:
    """An update of ``messages``, in any accepted notation, as messages that all have ids.

    Args:
        update: One message or a list of them: messages, chunks, ``(role, text)`` tuples,
            dicts, or plain text for a human message. The messages are not copied; those
            without an id get one.

    Raises:
        ValueError: An entry is no message; langchain-core names it.
    """
    entries = cast("list[Any]", update) if isinstance(update, list) else [update]
    # A long history has few kinds of messages: look at the kinds, not at each message.
    if not all(map(is_whole, set(map(type, entries)))):
        entries = [
            message_chunk_to_message(m) if isinstance(m, BaseMessageChunk) else m
            for m in convert_to_messages(entries)
        ]
    messages = cast("list[BaseMessage]", entries)
    if None in set(map(ID, messages)):
        for message in messages:
            if message.id is None:
                message.id = str(uuid.uuid4())
    return messages


def without_ids(value: Any) -> bool:
    """Whether an update consists of messages that have no id yet."""
    entries = cast("list[Any]", value) if isinstance(value, list) else [value]
    return all(
        isinstance(m, BaseMessage) and m.id is None and not isinstance(m, RemoveMessage)
        for m in entries
    )


def is_whole(kind: type) -> bool:
    """Whether a class is one of messages, not of their chunks."""
    return issubclass(kind, BaseMessage) and not issubclass(kind, BaseMessageChunk)


def index_messages(messages: Sequence[BaseMessage]) -> dict[str | None, int]:
    """Position of each message by id."""
    return dict(zip(map(ID, messages), range(len(messages)), strict=True))


def fold_messages(
    base: Sequence[BaseMessage],
    update: Sequence[BaseMessage],
    index: dict[str | None, int],
) -> list[BaseMessage]:
    """``base`` with ``update`` merged in by id, as ``add_messages`` does it.

    A known id replaces the message in its place, an unknown one is appended, a
    ``RemoveMessage`` removes (an unknown one does nothing), ``REMOVE_ALL_MESSAGES`` forgets all
    that stood before it. Messages of ``base`` are looked at only when something is removed.

    Args:
        base: The messages so far.
        update: Messages with ids, see :func:`stamp_messages`.
        index: :func:`index_messages` of ``base``; afterwards that of the result.
    """
    merged = list(base)
    gone: set[str | None] = set()
    for message in update:
        place = index.get(message.id)
        if isinstance(message, RemoveMessage):
            if message.id == REMOVE_ALL_MESSAGES:
                merged.clear()
                gone.clear()
                index.clear()
            elif place is not None:
                gone.add(message.id)
        elif place is None:
            index[message.id] = len(merged)
            merged.append(message)
        else:
            gone.discard(message.id)
            merged[place] = message
    if gone:
        merged = [m for m in merged if m.id not in gone]
        index.clear()
        index.update(index_messages(merged))
    return merged


def first_messages(
    updates: Sequence[list[BaseMessage]],
) -> tuple[list[BaseMessage], dict[str | None, int]] | None:
    """Updates of an empty conversation put together, with their positions by id.

    None if they must be merged one by one.
    """
    together = [m for update in updates for m in update]
    if RemoveMessage in set(map(type, together)):
        return None
    index = index_messages(together)
    return (together, index) if len(index) == len(together) and None not in index else None


def unknown_removals(update: Iterable[BaseMessage], known: Iterable[str | None]) -> list[str]:
    """Ids that an update wants removed though no message has them, in order."""
    ids = set(known)
    missing: list[str] = []
    for message in update:
        if not isinstance(message, RemoveMessage):
            ids.add(message.id)
        elif message.id == REMOVE_ALL_MESSAGES:
            ids.clear()
        elif message.id not in ids:
            missing.append(str(message.id))
    return missing
