"""JSON from a model's text: strictly first, then where there is no doubt about what was meant."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from pydantic_core import from_json

from ...state.structured_errors import UnreadableAnswerError
from .problems import shortened

MAX_QUOTED = 500
"""Characters of a reply that an error repeats."""

_OPENING_FENCE = re.compile(r"\s*(?:```|~~~)[ \t]*[\w+-]*[ \t]*\r?\n?")
_CLOSING_FENCE = re.compile(r"(?:```|~~~)\s*\Z")
_HUGE_EXPONENT = re.compile(r"\d[eE]\+?\d{3}")
_THINKING = re.compile(r"\s*<think(?:ing)?>")
_END_OF_THINKING = re.compile(r"</think(?:ing)?>")
_OPENING_BRACKET = re.compile(r"[{\[]")
_CLOSERS = {"{": "}", "[": "]"}


class _NotJsonError(ValueError):
    pass


def read_json(text: str, *, name: str, surrounded: bool = False, bare: bool = False) -> Any:
    """Give the one JSON value of a text.

    Strictly first: the text is the value. Then a code fence around it and a model's thinking
    before it are taken off. With ``surrounded`` other text may stand around the value too, if
    there is exactly one value in it.

    Args:
        text: What the model said, to its end.
        name: Name of the schema, for the error.
        surrounded: Whether other text may stand around the value.
        bare: Whether a list counts as a value among other text, as an object does.

    Raises:
        UnreadableAnswerError: There is no value, or several, or none that JSON allows.
    """
    try:
        return _strict(text)
    except _NotJsonError as error:
        reason = str(error)
    said = _after_thinking(text)
    try:
        return _strict(without_fence(said))
    except _NotJsonError:
        pass
    if surrounded:
        try:
            found = list(islice(_values(said, "{[" if bare else "{"), 2))
        except _NotJsonError as error:
            found, reason = [], str(error)
        if len(found) == 1:
            return found[0]
        if found:
            reason = "it holds several JSON values where one is due"
    msg = (
        f"The reply holds no readable JSON for {name}: {reason}. "
        f"The reply was {shortened(text, MAX_QUOTED)!r}."
    )
    raise UnreadableAnswerError(msg, text=text)


def without_fence(text: str) -> str:
    """Give a text without the code fence around it, or as it is; the end may still be missing."""
    opening = _OPENING_FENCE.match(text)
    if opening is None:
        return text
    inner = text[opening.end() :]
    closing = _CLOSING_FENCE.search(inner)
    return inner[: closing.start()] if closing else inner


def _strict(text: str) -> Any:
    try:
        value = from_json(text.removeprefix("\ufeff"), allow_inf_nan=False)
        if _HUGE_EXPONENT.search(text):
            # Python's reader asks about each number; pydantic's makes an infinity of 1e999.
            json.loads(text.removeprefix("\ufeff"), parse_float=_finite)
    except RecursionError:
        msg = "it is nested too deeply"
        raise _NotJsonError(msg) from None
    except (ValueError, TypeError) as error:
        # The only TypeError: text with half of a surrogate pair, which is no Unicode.
        said = "it is no valid Unicode" if isinstance(error, TypeError) else str(error)
        raise _NotJsonError(said) from None
    return value


def _finite(number: str) -> float:
    value = float(number)
    if value in (float("inf"), float("-inf")):
        msg = f"the number {number[:40]} is too large"
        raise ValueError(msg)
    return value


def _after_thinking(text: str) -> str:
    if not _THINKING.match(text):
        return text
    ends = list(_END_OF_THINKING.finditer(text))
    return text[ends[-1].end() :] if ends else text


def _values(text: str, starts: str) -> Iterator[Any]:
    """The JSON values among other text, outermost only; in time linear in the text's length.

    A bracket that is never closed ends the search: what stands behind it may be the inside of a
    value that was cut off.
    """
    position = 0
    while opening := _OPENING_BRACKET.search(text, position):
        start = opening.start()
        end = _closing(text, start)
        if end is None:
            msg = "a bracket in it is not closed"
            raise _NotJsonError(msg)
        position = end
        if text[start] in starts:
            try:
                yield _strict(text[start:end])
            except _NotJsonError:
                continue


def _closing(text: str, start: int) -> int | None:
    """Where the bracket at ``start`` is closed, brackets in strings left out; None if nowhere."""
    open_brackets: list[str] = []
    in_string = False
    position = start
    while position < len(text):
        character = text[position]
        if in_string:
            if character == "\\":
                position += 1
            elif character == '"':
                in_string = False
        elif character == '"':
            in_string = True
        elif character in _CLOSERS:
            open_brackets.append(_CLOSERS[character])
        elif character in "}]":
            if open_brackets.pop() != character:
                return None
            if not open_brackets:
                return position + 1
        position += 1
    return None
