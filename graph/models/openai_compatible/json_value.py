"""Decoded JSON of unknown shape, narrowed."""

from __future__ import annotations

from typing import Any, cast

from typing_extensions import TypeIs


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
    return value if _is_list(value) else None


def _is_list(value: object) -> TypeIs[list[Any]]:
    return isinstance(value, list)
