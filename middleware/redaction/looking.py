"""Looking at messages of the state, each once, and the update that redacts them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage

from .memory import MessageMemory
from .redactor import FOUND


def look(
    messages: Sequence[BaseMessage],
    memory: MessageMemory,
    change: Callable[[BaseMessage], BaseMessage],
    *,
    everywhere: bool,
    only: type[BaseMessage] = BaseMessage,
    in_place: bool = False,
) -> dict[str, Any] | None:
    """The update that changes messages not looked at yet; None if all stay as they are.

    Args:
        messages: The conversation.
        memory: Those that have been looked at, to which these are added.
        change: What becomes of a message.
        everywhere: Look at all of them, not at the last ones only.
        only: Look at messages of this kind.
        in_place: Change the objects too: what a node adds and then replaces is written both
            times, and so shown. Only for messages that this step made.
    """
    new_ones = memory.new_in(messages, everywhere=everywhere)
    if not new_ones:
        return None
    found: dict[str, str] = {}
    token = FOUND.set(found)
    changed: dict[int, BaseMessage] = {}
    try:
        for position in new_ones:
            message = messages[position]
            if not isinstance(message, only):
                continue
            new = change(message)
            if new is not message:
                if in_place:
                    vars(message).update(vars(new))
                    new = message
                changed[position] = new
            memory.add(new)
    finally:
        FOUND.reset(token)
    if not changed:
        return None
    update: dict[str, Any] = {"messages": replacements(messages, changed)}
    return {**update, "pii_vault": found} if found else update


def replacements(
    messages: Sequence[BaseMessage], changed: Mapping[int, BaseMessage]
) -> list[BaseMessage]:
    """The update that puts changed messages in their places.

    Messages of a running agent have ids, which is all that is needed; others only stand in the
    right order if all of them are written.
    """
    if all(message.id is not None for message in changed.values()):
        return list(changed.values())
    return [changed.get(n, message) for n, message in enumerate(messages)]
