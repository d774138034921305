"""What a failure itself says about another attempt: its family, its status, the wait it asks for.

Nothing here reads the words of an error: they change with every release of a provider's package.
"""

from __future__ import annotations

from typing import Any, cast

from langchain_core.exceptions import ModelError

from ..state.errors import InterlockError, StructuredOutputError
from ..state.structured_errors import RefusedAnswerError
from .asked_wait import seconds_in, wait_in_headers

_SERVER_ERRORS = 500
_CLIENT_ERRORS = 400
_PASSING = frozenset({408, 409, 425, 429})
"""Client errors that may be over the next time. Source: the retry rules of openai-python 2."""


def default_retry_on(error: BaseException) -> bool:
    """Whether another attempt can succeed where this one failed.

    langchain-core's model errors know it themselves, and so do the errors of interlock's own
    models, which belong to the same family. Every other error of interlock says that something
    is wrong with the program, except a structured answer that is invalid and no refusal. An error that carries an HTTP
    status is judged by it. Whatever is left may pass.
    """
    if not isinstance(error, Exception):
        return False
    if isinstance(error, ModelError):
        return error.is_retryable
    if isinstance(error, InterlockError):
        invalid = isinstance(error, StructuredOutputError)
        return invalid and not isinstance(error, RefusedAnswerError)
    status = status_of(error)
    if status is None or status < _CLIENT_ERRORS:
        return True
    return status in _PASSING or status >= _SERVER_ERRORS


def status_of(error: BaseException) -> int | None:
    """The HTTP status that an error carries, as the clients of most providers keep it."""
    for holder in (error, getattr(error, "response", None)):
        for name in ("status_code", "status"):
            value = getattr(holder, name, None)
            if isinstance(value, int) and not isinstance(value, bool):
                return value
    return None


def asked_wait_s(error: BaseException) -> float | None:
    """Seconds that an error asks to wait before the next attempt, if it says so.

    Read from ``retry_after_s`` or ``retry_after``, or from the header of the HTTP response it
    holds, in seconds or as a date.
    """
    for name in ("retry_after_s", "retry_after"):
        if (seconds := seconds_in(getattr(error, name, None))) is not None:
            return seconds
    items: Any = getattr(getattr(getattr(error, "response", None), "headers", None), "items", None)
    if not callable(items):
        return None
    headers = {str(key).lower(): value for key, value in cast("Any", items())}
    return wait_in_headers(headers)
