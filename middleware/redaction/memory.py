"""Which messages have been looked at, so that nobody looks at them twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast
from weakref import ref

from langchain_core.messages import BaseMessage


class MessageMemory:
    """Remembers message objects, and for each what it became, as long as the object lives.

    It goes by the object and not by its id: a message of a known id can be replaced by another.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[ref[BaseMessage], BaseMessage | None]] = {}
        self._unchanged: set[int] = set()

    def __contains__(self, message: object) -> bool:
        entry = self._known.get(id(message))
        return entry is not None and entry[0]() is message

    def add(self, message: BaseMessage, became: BaseMessage | None = None) -> None:
        """Remember a message; ``became`` is what takes its place, None if it stays."""
        key = id(message)
        self._known[key] = (ref(message, lambda _: self._forget(key)), became)
        if became is None:
            self._unchanged.add(key)

    def all_unchanged(self, messages: Sequence[Any]) -> bool:
        """Whether all messages are known and stay as they are: quick, for the usual case."""
        return self._unchanged.issuperset(map(id, messages))

    def became(self, message: BaseMessage) -> BaseMessage:
        """What a remembered message became: itself, or another one."""
        return self._known[id(message)][1] or message

    def new_in(self, messages: Sequence[Any], *, everywhere: bool) -> list[int]:
        """Positions of the messages not looked at yet, in order.

        Args:
            messages: The conversation.
            everywhere: Look at all of them; else from the end up to the first known one.
        """
        positions: list[int] = []
        for position in range(len(messages) - 1, -1, -1):
            if cast("BaseMessage", messages[position]) not in self:
                positions.append(position)
            elif not everywhere:
                break
        return positions[::-1]

    def _forget(self, key: int) -> None:
        self._known.pop(key, None)
        self._unchanged.discard(key)
