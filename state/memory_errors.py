"""Errors of long-term memory."""

from __future__ import annotations

from .errors import InvalidInputError


class MemoryScopeError(InvalidInputError):
    """It is not clear, or not allowed, whose memories a run reads and writes."""
