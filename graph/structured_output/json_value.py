"""Telling JSON's objects and lists from all else, in a way that type checkers understand."""

from __future__ import annotations

from typing import Any

from typing_extensions import TypeIs


def is_object(value: object) -> TypeIs[dict[str, Any]]:
    """Whether a value parsed from JSON is an object."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeIs[list[Any]]:
    """Whether a value parsed from JSON is a list."""
    return isinstance(value, list)
