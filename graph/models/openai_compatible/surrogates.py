"""Halves of surrogate pairs: valid in JSON escapes, never valid in UTF-8."""

from __future__ import annotations

from typing import cast


def mended(text: str) -> str:
    """Return the text with pairs joined and lone halves replaced by U+FFFD.

    Args:
        text: Any text, also one that cannot be encoded.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def without_surrogates(value: object) -> object:
    """Return a decoded JSON value with every text in it mended.

    Args:
        value: A value of ``json.loads``.
    """
    if isinstance(value, str):
        return mended(value)
    if isinstance(value, list):
        return [without_surrogates(item) for item in cast("list[object]", value)]
    if isinstance(value, dict):
        return {
            mended(key): without_surrogates(item)
            for key, item in cast("dict[str, object]", value).items()
        }
    return value
