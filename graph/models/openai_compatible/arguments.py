"""The arguments of a tool call, read strictly: an object, or the reason why not.

Nothing here repairs or completes JSON. Where a key occurs twice the last value counts, and
that value is all anybody sees: reviewers, tools and the provider get the parsed object.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

from pydantic_core import from_json

from .json_value import as_list, as_object

_INT_MIN: Final = -(2**63)
_INT_MAX: Final = 2**64 - 1

_JSON_KINDS: Final[dict[type, str]] = {
    bool: "a boolean",
    list: "an array",
    str: "a string",
    type(None): "null",
}


@dataclass(frozen=True)
class Refusal:
    """Why arguments cannot be used, in words for the model."""

    reason: str


def read_arguments(raw: object) -> dict[str, Any] | Refusal:
    """Return the arguments as an object, or a report for the model.

    Args:
        raw: What the provider sent: JSON text, an object it already decoded, or nothing.
            Nothing, blank text and ``null`` mean no arguments.
    """
    if raw is None:
        return {}
    value: object = raw
    if isinstance(raw, str):
        if not raw.strip() or raw.strip() == "null":
            return {}
        try:
            # Refuses NaN, duplicate text after the object, and nesting beyond 200 levels.
            value = from_json(raw, allow_inf_nan=False)
        except ValueError as exc:
            return Refusal(f"The arguments are not valid JSON: {exc}. Send one complete object.")
    arguments = as_object(value)
    if arguments is None:
        kind = _JSON_KINDS.get(type(value), "a number")
        return Refusal(f"The arguments must be an object, not {kind}. Send one JSON object.")
    return _unusable_number(arguments) or arguments


def _unusable_number(value: object) -> Refusal | None:
    """Report a number no tool, store or provider can carry: infinite, or beyond 64 bits."""
    pending: list[object] = [value]
    while pending:
        item = pending.pop()
        if (fields := as_object(item)) is not None:
            pending.extend(fields.values())
        elif (items := as_list(item)) is not None:
            pending.extend(items)
        elif isinstance(item, float):
            if not math.isfinite(item):
                return Refusal("The arguments hold a number that is not finite.")
        elif isinstance(item, int) and not _INT_MIN <= item <= _INT_MAX:
            return Refusal("The arguments hold an integer of more than 64 bits.")
    return None
