"""Several updates of one state key, put together into the one write of a node."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, cast

from langchain_core.messages import BaseMessage, RemoveMessage
from langgraph.channels.base import BaseChannel
from langgraph.channels.binop import BinaryOperatorAggregate
from langgraph.channels.delta import DeltaChannel
from langgraph.channels.topic import Topic
from langgraph.graph.message import REMOVE_ALL_MESSAGES, add_messages
from langgraph.types import Overwrite

from .reducers import Handler, merge_lists, replace_values

_EXACT: dict[Callable[..., Any], frozenset[type]] = {
    operator.add: frozenset({list, tuple, str, int}),
    operator.or_: frozenset({dict, set, frozenset, int}),
}
"""Reducers that may be applied to the updates first, for values of these very types."""


def gathers(channel: BaseChannel[Any, Any, Any]) -> bool:
    """Whether each update of a step counts, and not the last one alone."""
    if isinstance(channel, Topic):
        return cast("Topic[Any]", channel).accumulate
    return isinstance(channel, (BinaryOperatorAggregate, DeltaChannel))


def one_write(
    channel: BaseChannel[Any, Any, Any], writes: Sequence[Any], value: Any, *, alone: bool
) -> list[Any]:
    """Writes that bring a channel where ``writes`` bring it one after the other, if possible one.

    Args:
        channel: What holds the key.
        writes: The updates, in order.
        value: What they come to.
        alone: Nothing else writes the key in this step, so it may be replaced as a whole.
    """
    if isinstance(channel, Topic):
        return [[item for write in writes for item in _entries(write)]]
    function: Any = getattr(channel, "operator", None)
    if add_messages in (function, getattr(function, "func", None)):
        return _one_of_messages(writes, value, alone=alone)
    if isinstance(function, Handler):
        function = function.function
        if function is replace_values:
            return [writes[-1]]
    kinds = set(map(type, writes))
    if function is merge_lists or (len(kinds) == 1 and kinds <= _EXACT.get(function, frozenset())):
        return [reduce(function, writes)]
    return [Overwrite(value)] if alone else list(writes)


def with_messages(
    writes: Sequence[Any] | None, update: list[Any], value: list[BaseMessage], *, alone: bool
) -> list[Any]:
    """Writes of messages, all with ids, and one more update of them.

    Args:
        writes: The earlier ones, if any; the last may be an ``Overwrite``.
        update: The later one.
        value: What they come to.
        alone: Nothing else writes the key in this step.
    """
    if not writes:
        return [update]
    *others, last = writes
    if isinstance(last, Overwrite):
        return [Overwrite(value)]
    removed = {m.id for m in last if isinstance(m, RemoveMessage)}
    if removed and any(m.id in removed for m in update if not isinstance(m, RemoveMessage)):
        # In one update the message would return to its old place instead of the end.
        return [[RemoveMessage(REMOVE_ALL_MESSAGES), *value]] if alone else [*writes, update]
    return [*others, [*last, *update]]


def _one_of_messages(writes: Sequence[Any], value: Any, *, alone: bool) -> list[Any]:
    together = [entry for write in writes for entry in _entries(write)]
    if not any(map(_may_remove, together)):
        return [together]
    return [[RemoveMessage(REMOVE_ALL_MESSAGES), *value]] if alone else list(writes)


def _may_remove(entry: Any) -> bool:
    """Whether an entry is a removal, or none that can be told from one at a glance."""
    return isinstance(entry, RemoveMessage) or not isinstance(entry, BaseMessage)


def _entries(write: Any) -> list[Any]:
    return cast("list[Any]", write) if isinstance(write, list) else [write]
