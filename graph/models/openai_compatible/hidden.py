"""Words that must not be shown, in a holder that does not show them either."""

from __future__ import annotations

from collections.abc import Iterable


class Hidden:
    """Takes secrets out of texts.

    Its ``repr`` tells only how many there are, so it may stand in any frame of a traceback.

    Args:
        words: The secrets; empty ones are left out.
    """

    __slots__ = ("_words",)

    def __init__(self, words: Iterable[str] = ()) -> None:
        self._words = tuple(word for word in words if word)

    def out_of(self, text: str) -> str:
        """Return the text with every secret replaced by ``***``.

        Args:
            text: Any text.
        """
        for word in self._words:
            text = text.replace(word, "***")
        return text

    def out_of_bytes(self, raw: bytes) -> bytes:
        """Return the bytes with every secret replaced by ``***``.

        Args:
            raw: Any bytes.
        """
        for word in self._words:
            raw = raw.replace(word.encode(), b"***")
        return raw

    def __repr__(self) -> str:
        return f"<{len(self._words)} hidden words>"
