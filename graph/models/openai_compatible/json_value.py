"""Decoded JSON of unknown shape, narrowed."""

from __future__ import annotations

from typing import Any, cast


def as_object(value: object) -> dict[str, Any] | None:
    """Return the value if it is a JSON object, else None.

    Args:
        value: A decoded JSON value.
    """
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def as_list(value: object) -> list[Any] | None:
    """Return the value if it is a JSON array, else None.

    Args:
        value: A decoded JSON value.
    """
    return cast("list[Any]", value) if isinstance(value, list) else None
