"""Errors that end a run whatever the agent's policy for failed tools is."""

from __future__ import annotations

from typing import TypeVar

ErrorT = TypeVar("ErrorT", bound=BaseException)

_MARK = "__interlock_fatal__"


def fatal(error: ErrorT) -> ErrorT:
    """The same error, marked so that no policy makes it into a message for the model.

    A layer around tool calls marks what it was told to let through. A layer further out may
    still catch it.
    """
    # Through __dict__, so that an error of a frozen dataclass takes the mark too.
    error.__dict__[_MARK] = True
    return error


def is_fatal(error: BaseException) -> bool:
    """Whether an error was marked."""
    return _MARK in error.__dict__
