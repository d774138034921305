"""Messages of users: which ones are still to be checked, and what is left of a blocked one."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

from langchain_core.messages import BaseMessage, HumanMessage

from ...state.history import last_ai_message
from ..message_text import text_of

REMOVED = "[removed by a guardrail]"
"""What stands in the thread instead of a message that was blocked."""

_REMEMBERED = 2_000


class Passed:
    """The messages that passed last in this process, by their keys, see ``message_key``.

    A caller without a checkpointer gives the whole conversation again with each input.
    """

    def __init__(self) -> None:
        self._keys: OrderedDict[str, None] = OrderedDict()
        self._lock = Lock()

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def add(self, key: str) -> None:
        """Remember a message."""
        with self._lock:
            self._keys[key] = None
            if len(self._keys) > _REMEMBERED:
                self._keys.popitem(last=False)


def removed(message: BaseMessage) -> BaseMessage:
    """The note in the place of a message."""
    return HumanMessage(REMOVED, id=message.id, name=message.name)


def is_from_user(message: BaseMessage) -> bool:
    """Whether a message of the state says something of a user's, and is no note of a library."""
    return (
        isinstance(message, HumanMessage)
        and not message.additional_kwargs.get("lc_source")
        and message.content != REMOVED
        and bool(text_of(message))
    )


def behind_last_reply(messages: Sequence[BaseMessage]) -> int:
    """The position behind the newest reply of the model."""
    found = last_ai_message(messages)
    return 0 if found is None else found[0] + 1
