"""Results in the order of the input, with no more of them waiting than a window holds."""

from __future__ import annotations

from typing import Generic, TypeVar

from ...state.errors import ConfigurationError

ItemT = TypeVar("ItemT")


class Window(Generic[ItemT]):
    """Holds back what finishes early until all before it is finished.

    A slow record would let everything after it pile up, so a record far ahead may not start:
    memory depends on the window and not on the number of records.

    >>> window = Window(2)
    >>> window.may_start(1), window.may_start(2)
    (True, False)
    >>> window.finish(1, "b")
    []
    >>> window.finish(0, "a")
    ['a', 'b']
    """

    def __init__(self, size: int) -> None:
        """Make a window.

        Args:
            size: How many records from the first unfinished one on may have started.

        Raises:
            ConfigurationError: It holds nothing.
        """
        if size < 1:
            msg = f"The window holds {size!r} records; let it hold at least one."
            raise ConfigurationError(msg)
        self._size = size
        self._next = 0
        self._waiting: dict[int, ItemT] = {}

    @property
    def waiting(self) -> int:
        """How many finished items are held back."""
        return len(self._waiting)

    def may_start(self, position: int) -> bool:
        """Whether the record at a position is near enough to the first unfinished one."""
        return position < self._next + self._size

    def finish(self, position: int, item: ItemT) -> list[ItemT]:
        """Take a finished item and give all items whose turn has come, in order."""
        self._waiting[position] = item
        released: list[ItemT] = []
        while self._next in self._waiting:
            released.append(self._waiting.pop(self._next))
            self._next += 1
        return released

    def rest(self) -> list[ItemT]:
        """Give what is held back, in order, though not all before it is finished."""
        return [self._waiting.pop(position) for position in sorted(self._waiting)]
