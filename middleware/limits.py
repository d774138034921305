"""Checking the limits that a middleware is given."""

from __future__ import annotations

from typing import Any

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
