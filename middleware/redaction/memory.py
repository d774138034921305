"""Which messages have been looked at, so that nobody looks at them twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_
from typing import Any
from weakref import ref

from langchain_core.messages import BaseMessage


class _Reference(ref[BaseMessage]):
    """A reference that says of what it was when that is gone."""

    __slots__ = ("key",)
    key: int


class MessageMemory:
    """Remembers message objects, and for each what it became, as long as the object lives.

    It goes by the object and not by its id: a message of a known id can be replaced by another.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[ref[BaseMessage], BaseMessage | None]] = {}
        self._unchanged: set[int] = set()
        # One function for all references, which tell it what they were of.
        self._gone = self._forget

    def __contains__(self, message: object) -> bool:
        # The reference's callback forgets an object before its id can be another's.
        return id(message) in self._known

    def add(self, message: BaseMessage, became: BaseMessage | None = None) -> None:
        """Remember a message; ``became`` is what takes its place, None if it stays."""
        key = id(message)
        reference = _Reference(message, self._gone)
        reference.key = key
        self._known[key] = (reference, became)
        if became is None:
            self._unchanged.add(key)

    def became(self, message: BaseMessage) -> BaseMessage:
        """What a remembered message became: itself, or another one."""
        return self._known[id(message)][1] or message

    def change_all(
        self, messages: Sequence[BaseMessage], change: Callable[[BaseMessage], BaseMessage]
    ) -> list[BaseMessage] | None:
        """What messages become, each new one asked about once; None if all stay as they are."""
        unchanged = self._unchanged
        if unchanged.issuperset(map(id, messages)):
            return None
        changed = [m if id(m) in unchanged else self._changed(m, change) for m in messages]
        return None if all(map(is_, changed, messages)) else changed

    def new_in(self, messages: Sequence[Any], *, everywhere: bool) -> list[int]:
        """Positions of the messages not looked at yet, in order.

        Args:
            messages: The conversation.
            everywhere: Look at all of them; else from the end up to the first known one.
        """
        known = self._known
        if everywhere:
            return [n for n, message in enumerate(messages) if id(message) not in known]
        first = len(messages)
        while first and id(messages[first - 1]) not in known:
            first -= 1
        return list(range(first, len(messages)))

    def _changed(
        self, message: BaseMessage, change: Callable[[BaseMessage], BaseMessage]
    ) -> BaseMessage:
        if message not in self:
            new = change(message)
            self.add(message, None if new is message else new)
        return self.became(message)

    def _forget(self, gone: Any) -> None:
        self._known.pop(gone.key, None)
        self._unchanged.discard(gone.key)
