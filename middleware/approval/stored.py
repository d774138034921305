"""What a thread holds of reviews, looked at before it is used: stored data may be anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from ...state.stored_run import unreadable
from .decision import DECISION_TYPES, Action
from .review import Given, Review


def reviews_in(state: Mapping[str, Any], key: str) -> Mapping[str, Review]:
    """The reviews under a state key, by call id.

    Raises:
        StorageError: It holds something else.
    """
    return cast("Mapping[str, Review]", _entries(state, key, _is_review))


def edits_in(state: Mapping[str, Any], key: str) -> Mapping[str, Action]:
    """The edited calls under a state key, by call id.

    Raises:
        StorageError: It holds something else.
    """
    return cast("Mapping[str, Action]", _entries(state, key, _is_action))


def confirmed_in(state: Mapping[str, Any], key: str) -> Mapping[str, float]:
    """When calls were confirmed, under a state key, by confirmation key.

    Raises:
        StorageError: It holds something else.
    """
    return cast("Mapping[str, float]", _entries(state, key, _is_moment))


def given_in(state: Mapping[str, Any], key: str) -> Mapping[str, Given]:
    """The decisions under a state key that came with a snapshot, by call id; themselves unchecked.

    Raises:
        StorageError: It holds something else.
    """
    return cast("Mapping[str, Given]", _entries(state, key, _is_given))


def _entries(state: Mapping[str, Any], key: str, form: Callable[[Any], bool]) -> Any:
    stored = state.get(key)
    if not stored:
        return {}
    if not isinstance(stored, dict):
        raise unreadable(key)
    for ident, entry in cast("dict[Any, Any]", stored).items():
        if not isinstance(ident, str) or not form(entry):
            raise unreadable(key, str(ident)[:80])
    return cast("Any", stored)


def _is_review(entry: Any) -> bool:
    return (
        isinstance(entry, dict)
        and isinstance(_of(entry, "call"), str)
        and type(_of(entry, "ask")) is bool
        and _of(entry, "decision", "approve") in DECISION_TYPES
        and isinstance(_of(entry, "note", ""), str)
        and isinstance(_of(entry, "problem", ""), str)
    )


def _is_action(entry: Any) -> bool:
    return (
        isinstance(entry, dict)
        and entry.keys() == {"name", "args"}
        and isinstance(_of(entry, "name"), str)
        and isinstance(_of(entry, "args"), dict)
    )


def _is_moment(entry: Any) -> bool:
    return type(entry) in (int, float)


def _is_given(entry: Any) -> bool:
    return (
        isinstance(entry, dict) and "decision" in entry and isinstance(_of(entry, "text", ""), str)
    )


def _of(entry: Any, key: str, default: object = None) -> Any:
    return cast("dict[str, Any]", entry).get(key, default)
