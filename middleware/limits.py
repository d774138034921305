"""Limits on numbers of calls: checking them, and what they leave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from langchain_core.messages import ToolCall

from ..state.errors import ConfigurationError


def check_limits(thread_limit: Any, run_limit: Any) -> None:
    """Refuse limits that are no counts, or that are not there at all.

    Raises:
        ConfigurationError: Both are None, or one is no whole number from 0 on.
    """
    if thread_limit is None and run_limit is None:
        msg = "At least one limit must be specified: give thread_limit or run_limit."
        raise ConfigurationError(msg)
    for name, limit in (("thread_limit", thread_limit), ("run_limit", run_limit)):
        if limit is not None and (
            isinstance(limit, bool) or not isinstance(limit, int) or limit < 0
        ):
            msg = f"{name} is {limit!r}; give a whole number from 0 on, or None for no limit."
            raise ConfigurationError(msg)


def left(limit: int | None, count: int) -> int | None:
    """Calls that a limit still allows, or None for any number."""
    return None if limit is None else limit - count


class Split(NamedTuple):
    """The calls of a reply, divided by what the limits leave."""

    allowed: Sequence[ToolCall]
    refused: Sequence[ToolCall]


def split_calls(calls: Sequence[ToolCall], thread_left: int | None, run_left: int | None) -> Split:
    """The first calls that both limits leave room for, and the rest.

    Args:
        calls: Calls that the limits are for, in call order.
        thread_left: Calls that the thread may still make; None for any number.
        run_left: The same for the run.
    """
    room = len(calls)
    for limit in (thread_left, run_left):
        if limit is not None and limit < room:
            room = max(limit, 0)
    return Split(calls[:room], calls[room:])
