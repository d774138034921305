"""Whether all text of an answer is text: half of a surrogate pair can not be stored or sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast


def text_problem(answer: Any) -> str | None:
    """What is wrong with a text in an answer, keys included; None if nothing is."""
    waiting: list[Any] = [answer]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            waiting += [part for pair in cast("Mapping[Any, Any]", value).items() for part in pair]
        elif isinstance(value, (list, tuple)):
            waiting += cast("list[Any]", value)
        elif isinstance(value, str) and not value.isascii() and not _is_unicode(value):
            return f"{value[:80]!r} is no valid Unicode text: it holds half of a surrogate pair"
    return None


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
