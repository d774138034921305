"""How wide text is in a picture whose fonts nobody knows, and how it is cut to fit."""

from __future__ import annotations

import unicodedata

_NARROW = frozenset("iljtfrI.,:;'|!()[]`\"-· ")
_WIDE = frozenset("mwMWOQG@%&—…")


def width_of(text: str, size: float) -> float:
    """A width in pixels that the text surely fits into.

    Args:
        text: One line.
        size: The size of the letters in pixels.

    Source: measured with chromium 149 in DejaVu Sans, one of the widest sans-serif fonts.
    """
    return sum(map(_share, text)) * size


def cut(text: str, size: float, width: float) -> str:
    """The text, or its beginning and an ellipsis where it is wider than ``width`` pixels."""
    text = printable(text)
    if width_of(text, size) <= width:
        return text
    while text and width_of(f"{text}…", size) > width:
        text = text[:-1]
    return f"{text.rstrip()}…"


def printable(text: str) -> str:
    """The text on one line, with a placeholder for what no document may hold."""
    line = " ".join(text.split())
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)


def _share(letter: str) -> float:
    """The width of a letter as a share of its size."""
    if unicodedata.combining(letter):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.05
    if letter in _NARROW:
        return 0.42
    if letter in _WIDE:
        return 1.0
    return 0.72 if letter.isupper() or not letter.isascii() else 0.635
