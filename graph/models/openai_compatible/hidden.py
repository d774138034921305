"""Words that must not be shown, in a holder that does not show them either."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import quote, quote_plus

from pydantic import SecretStr

_SECRET_NAME: Final = re.compile(
    r"auth|cookie|credential|key|passw|secret|signature|token", re.IGNORECASE
)


def is_secret_name(name: str) -> bool:
    """Tell whether a header or query parameter of this name holds a secret.

    Args:
        name: The name.
    """
    return _SECRET_NAME.search(name) is not None


def secrets_among(fields: Mapping[str, str | SecretStr]) -> list[str]:
    """Return the values of headers or query parameters that hold secrets, as they may be shown.

    Args:
        fields: Names and values.
    """
    words: list[str] = []
    for name, value in fields.items():
        if is_secret_name(name):
            text = value.get_secret_value() if isinstance(value, SecretStr) else value
            # In "Bearer abc" the second word alone is one too; in a URL both may be escaped.
            for word in {text, text.rpartition(" ")[2]}:
                words += {word, quote(word, safe=""), quote_plus(word)}
    return words


class Hidden:
    """Takes secrets out of texts.

    Its ``repr`` tells only how many there are, so it may stand in any frame of a traceback.

    Args:
        words: The secrets; empty ones are left out.
    """

    __slots__ = ("_words",)

    def __init__(self, words: Iterable[str] = ()) -> None:
        # The longest first, so that none is cut by another inside it.
        self._words = tuple(sorted({*words} - {""}, key=len, reverse=True))

    def and_also(self, words: Iterable[str]) -> Hidden:
        """Return a holder of these secrets and more.

        Args:
            words: More secrets.
        """
        return Hidden((*self._words, *words))

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
