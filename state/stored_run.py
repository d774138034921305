"""What a thread keeps of a run, looked at before it is used: stored data may be anything."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import NoneType
from typing import Any, cast

from langchain_core.messages import AIMessage

from .errors import StorageError
from .failures import is_failing
from .fatal import fatal

PHASES = frozenset(
    {
        *("before_agent", "before_model", "model", "after_model", "before_tools", "tools"),
        *("after_tools", "on_exit", "after_agent", "on_error", "hand_over"),
    }
)
"""Where a stored run may go on."""

_LEDGER_KEY, _WAITING_KEY = "run_ledger", "for_parent"

_WAITING = frozenset({"tool", "call", "graph", "goto", "update", "history"})


def unreadable(key: str, part: str | None = None) -> StorageError:
    """The error for a state key that a thread holds in another form than is written.

    Args:
        key: The state key.
        part: What of it has another form; None for all of it.
    """
    what = f"its value {part!r}" if part is not None else "its value"
    error = StorageError(
        f"State key {key!r} of this thread cannot be used: {what} has a form that this version "
        "does not write. The thread stays as it is: put the value right in the store, or go on "
        "in another thread."
    )
    # The model can do nothing about it, and an approval would be used up.
    return fatal(error)


def checked_parts(
    key: str, stored: Any, forms: Mapping[str, Callable[[Any], bool]]
) -> dict[str, Any]:
    """The stored value of a state key, if it is a dict of known parts in their forms.

    Args:
        key: The state key, for the error.
        stored: What the thread holds.
        forms: Tells of each part by name whether a value may be it.

    Raises:
        StorageError: It is none, or a part is unknown or has another form.
    """
    if not isinstance(stored, dict):
        raise unreadable(key)
    parts = cast("dict[str, Any]", stored)
    for name, value in parts.items():
        form = forms.get(name)
        if form is None or not form(value):
            raise unreadable(key, str(name)[:80])
    return parts


def check_ledger(stored: Any) -> Mapping[str, Any]:
    """The stored ledger of a run, if it is one.

    Raises:
        StorageError: It is not, and what of it.
    """
    return checked_parts(_LEDGER_KEY, stored, _LEDGER)


def check_waiting(stored: Any) -> list[dict[str, Any]]:
    """The stored commands for the graph around, if they are such.

    Raises:
        StorageError: They are not.
    """
    if not is_waiting(stored):
        raise unreadable(_WAITING_KEY)
    return cast("list[dict[str, Any]]", stored)


def is_waiting(value: Any) -> bool:
    """Whether a value is a list of commands for the graph around."""
    return isinstance(value, list) and all(map(_is_command, cast("list[Any]", value)))


def all_are(kind: type[Any]) -> Callable[[Any], bool]:
    """A check for a list whose values are all of one type."""
    return lambda value: (
        isinstance(value, list) and all(isinstance(v, kind) for v in cast("list[Any]", value))
    )


def _is_kept(value: Any) -> bool:
    """Whether a value is a list of replies with the digests of their requests."""
    if not isinstance(value, list):
        return False
    return all(map(_is_kept_reply, cast("list[Any]", value)))


def _is_kept_reply(value: Any) -> bool:
    match value:
        case {"request": str(), "reply": AIMessage(), **rest}:
            return not rest
        case _:
            return False


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_flag(value: Any) -> bool:
    return type(value) is bool


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_counts(value: Any) -> bool:
    items = cast("dict[Any, Any]", value).items() if isinstance(value, dict) else ()
    return isinstance(value, dict) and all(_is_text(k) and _is_count(v) for k, v in items)


def _is_usage(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(v, (int, float, dict, NoneType)) for v in cast("dict[Any, Any]", value).values()
    )


def _is_cursor(value: Any) -> bool:
    parts = _parts(value, 2)
    return parts is not None and _is_text(parts[0]) and parts[0] in PHASES and _is_count(parts[1])


def _is_checked(value: Any) -> bool:
    parts = _parts(value, 2)
    return parts is not None and _is_count(parts[0]) and _is_text(parts[1])


def _is_decided(value: Any) -> bool:
    parts = _parts(value, 3)
    if parts is None or parts[0] not in ("model", "tools", "exit"):
        return False
    return all(part is None or _is_text(part) for part in parts[1:])


def _parts(value: Any, length: int) -> list[Any] | None:
    """The values of a list or tuple of this length."""
    if not isinstance(value, (list, tuple)):
        return None
    parts = list(cast("Iterable[Any]", value))
    return parts if len(parts) == length else None


def _is_command(entry: Any) -> bool:
    if not isinstance(entry, dict) or cast("dict[Any, Any]", entry).keys() != _WAITING:
        return False
    command = cast("dict[str, Any]", entry)
    # With the conversation goes only a dict of further values.
    merges = not command["history"] or isinstance(command["update"], (Mapping, NoneType))
    return merges and all(isinstance(command[name], str) for name in ("tool", "call", "graph"))


_LEDGER: Mapping[str, Callable[[Any], bool]] = {
    "step_count": _is_count,
    "token_usage": _is_usage,
    "context_tokens": _is_count,
    "tool_call_counts": _is_counts,
    "exit_reason": _is_text,
    "exit_message": _is_text,
    "fruitless_replies": _is_count,
    "output_attempts": all_are(str),
    "output_failed": _is_text,
    "output": _is_text,
    "final_answer": _is_flag,
    "open_step": _is_flag,
    "running": all_are(str),
    "direct": all_are(str),
    "decided": _is_decided,
    "checked": _is_checked,
    "for_parent": is_waiting,
    "kept": _is_kept,
    "closing": _is_flag,
    "failing": is_failing,
    "cursor": _is_cursor,
}
"""What each counter of a ledger may be."""
