"""Text that arrives in pieces, let through as soon as nothing sensitive can still begin in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from .match import Span
from .surfaces import Change

LOOKBACK = 128
"""Characters that are held back: more than any built-in kind of data has between two spaces,
except keys, addresses and tokens, which are held from their beginning."""

_BOUNDARY = re.compile(r"[\s\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef]")
"""Where a word may end: data is not cut in two there."""


class Lookback:
    """Holds the end of a text back until it is certain to be harmless, or changed.

    Args:
        find: Gives the spans of sensitive data in a text.
        change: What becomes of a text.
        size: Characters that are held back at least.
    """

    def __init__(
        self, find: Callable[[str], Iterable[Span]], change: Change, size: int = LOOKBACK
    ) -> None:
        self._find = find
        self._change = change
        self._size = size
        self._held = ""
        self._searched = 0
        """Up to here no boundary has been found since the last cut."""
        self._boundary = 0
        self._next_look = 0
        """Length of the held text at which another look may be worth it."""

    def feed(self, piece: str) -> str:
        """Take the next piece; what may be shown now, changed."""
        shown = self.take(piece)
        return self._change(shown) if shown else ""

    def flush(self) -> str:
        """The rest, changed: no more pieces come."""
        rest = self.drain()
        return self._change(rest) if rest else ""

    def take(self, piece: str) -> str:
        """Take the next piece; the beginning of the text that is to be changed and shown now."""
        self._held += piece
        cut = self._cut()
        shown, self._held = self._held[:cut], self._held[cut:]
        if cut:
            self._searched = self._boundary = self._next_look = 0
        return shown

    def drain(self) -> str:
        """The rest, which is to be changed: no more pieces come."""
        rest, self._held = self._held, ""
        self._searched = self._boundary = self._next_look = 0
        return rest

    def _cut(self) -> int:
        """How much of the held text may go."""
        limit = len(self._held) - self._size
        if limit <= 0 or len(self._held) < self._next_look:
            return 0
        for found in _BOUNDARY.finditer(self._held, self._searched, limit):
            self._boundary = found.end()
        self._searched = limit
        cut = self._boundary
        if not cut:
            return 0
        end = len(self._held)
        # The last one first: where one is held from its beginning, an earlier one may be cut.
        for start, stop in sorted(self._find(self._held), reverse=True):
            # What touches the end may go on in the next piece.
            if start < cut and (stop > cut or stop == end):
                cut = start
        if not cut:
            # A match of open length holds everything: looking at each piece would cost the
            # square of its length.
            self._next_look = 2 * end
        return cut
