"""What a compactor is: it makes a conversation shorter, when it is told to.

Source: the contract of Haystack 3.4.1's ``Compactor``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import Any, Protocol, cast

from langchain_core.messages import BaseMessage, HumanMessage, add_notification_metadata

from ...state.errors import ConfigurationError
from ..flows import Flow
from ..token_counts import TokenCounter

Compacted = list[BaseMessage] | None
"""A shorter conversation, or None for leaving it as it is."""

MARK = "context_compaction"
"""Key of ``response_metadata`` of a message that was shortened in its place."""

NOTE = "compaction"
"""The ``lc_source`` of a note about removed messages."""


class Compactor(Protocol):
    """Rewrites a conversation into a shorter one.

    Rules for those who write one:

    1. Return None unless the result is smaller.
    2. Leave the list and the messages that you are given as they are.
    3. Keep a tool call with all of its results, or let all of them go.
    4. The target is a goal: get close to it, and keep what the agent needs all the same. What
       the model has not read yet, and the last message that a person wrote, stay.
    """

    def compact(
        self, messages: list[BaseMessage], target_tokens: int, token_counter: TokenCounter
    ) -> Compacted | Awaitable[Compacted] | Flow[Compacted]:
        """A shorter conversation, or None.

        Written as a plain function, as ``async def`` for asynchronous runs only, or, if it calls
        a model or waits for something in either kind of run, as a flow that yields ``Ask``.

        Args:
            messages: A valid conversation, oldest first.
            target_tokens: The size it should come down to.
            token_counter: Measures messages.
        """
        ...


def omission_note(text: str, strategy: str, removed: int) -> HumanMessage:
    """A note in place of removed messages, in the user's role, which all providers take."""
    data = {"strategy": strategy, "removed_messages": removed}
    return add_notification_metadata(HumanMessage(text), source=NOTE, data=data)


def note_data(message: BaseMessage, strategy: str) -> Mapping[str, Any] | None:
    """What a note of a strategy says about itself; None for any other message."""
    if message.additional_kwargs.get("lc_source") != NOTE:
        return None
    data: Any = message.additional_kwargs.get("lc_data")
    if not isinstance(data, Mapping):
        return None
    values = cast("Mapping[str, Any]", data)
    return values if values.get("strategy") == strategy else None


def check_at_least(setting: str, value: Any, least: int) -> None:
    """Refuse a setting that is no whole number or too small.

    Raises:
        ConfigurationError: It is.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        msg = f"{setting} is {value!r}; give a whole number of at least {least}."
        raise ConfigurationError(msg)
