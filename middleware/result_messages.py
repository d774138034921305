"""The messages in what a tool call came to: read as the executor reads them, and changed one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage, convert_to_messages
from langgraph.types import Command

from .flows import Flow

Look = Callable[[BaseMessage], Flow[BaseMessage]]
"""What becomes of a message."""


def each_message(result: Any, look: Look) -> Flow[Any]:
    """What a call came to, with ``look`` applied to every message in it, in order.

    Args:
        result: A message, a command, or a list of both. Of commands only the messages are looked
            at, in any notation that the agent takes. Anything else is returned as it is.
        look: A flow of the message, which returns the message that takes its place. Replies of
            models, which stand in commands of some tools, are left alone.
    """
    if isinstance(result, BaseMessage):
        if isinstance(result, AIMessage):
            return result
        return (yield from look(result))
    if isinstance(result, list):
        return (yield from _each(cast("list[Any]", result), look))
    if not isinstance(result, Command) or cast("Any", result).update is None:
        return cast("Any", result)
    command = cast("Command[Any]", result)
    update = _update_of(command)
    if "messages" not in update:
        return command if isinstance(command.update, Mapping) else replace(command, update=update)
    entries: Any = update["messages"]
    listed = cast("list[Any]", entries) if isinstance(entries, list) else [entries]
    messages = yield from _each(map(_as_message, listed), look)
    return replace(command, update={**update, "messages": messages})


def _each(items: Iterable[Any], look: Look) -> Flow[list[Any]]:
    changed = list(items)
    for place, item in enumerate(changed):
        changed[place] = yield from each_message(item, look)
    return changed


def _update_of(command: Command[Any]) -> Mapping[str, Any]:
    """What a command updates, by key."""
    update: Any = command.update
    if isinstance(update, Mapping):
        return cast("Mapping[str, Any]", update)
    if command.graph is not None:
        # Pairs, a model or a dataclass: what langgraph reads in the graph around.
        return dict(command._update_as_tuples())  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    return {"messages": update} if isinstance(update, list) else dict(update)


def _as_message(entry: Any) -> Any:
    """An entry as the message that it will be; one that is none stays, and is refused later on."""
    if isinstance(entry, BaseMessage):
        return entry
    try:
        return convert_to_messages([entry])[0]
    except (NotImplementedError, TypeError, ValueError):
        return entry
