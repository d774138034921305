"""Failures without what must not be seen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from langgraph.errors import GraphBubbleUp

from ...state.errors import ToolExecutionError
from ...state.guardrail_errors import DetectorError, PIIDetectionError
from .redactor import Redactor
from .surfaces import change_value

_WITHHELD = "its message is withheld"
_LONGEST_CHAIN = 20


def clean_error(error: Exception, redactor: Redactor, call: Any) -> Exception:
    """The error itself if it, and what caused it, says nothing sensitive.

    Otherwise one of the same type, so that those who retry or explain it know it; or a
    ``ToolExecutionError`` where no such one can be made.

    Args:
        error: What a tool raised.
        redactor: What is looked for.
        call: The tool call.
    """
    if isinstance(error, (GraphBubbleUp, DetectorError, PIIDetectionError)):
        return error
    if all(_redacted(text, redactor) == text for text in _said(error)):
        return error
    try:
        return _alike(error, redactor)
    except Exception:  # noqa: BLE001 - its class can do anything
        text = _redacted(str(error), redactor)
        msg = f"Tool {call['name']!r} failed with {type(error).__name__}: {text}"
        return ToolExecutionError(msg, tool_name=call["name"], tool_call_id=call["id"])


def _said(error: BaseException | None) -> Iterator[str]:
    """Texts of an error and of its causes, as traces show them."""
    for _ in range(_LONGEST_CHAIN):
        if error is None:
            return
        yield str(error)
        yield repr(error)
        yield from (note for note in getattr(error, "__notes__", ()) if isinstance(note, str))
        error = error.__cause__ or error.__context__


def _alike(error: Exception, redactor: Redactor) -> Exception:
    """An error of the same type, made without its constructor, which may want other arguments."""
    new = type(error).__new__(type(error), *change_value(error.args, redactor.redact))
    vars(new).update(change_value(vars(error), redactor.redact))
    if any(redactor.redact(text) != text for text in _said(new)):
        raise ValueError
    return new


def _redacted(text: str, redactor: Redactor) -> str:
    try:
        return redactor.redact(text)
    except PIIDetectionError:
        return _WITHHELD
