"""State updates of the layers around one model call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langgraph.channels.last_value import LastValue

from ..state.errors import InvalidUpdateError


def refuse_clash(
    updates: Sequence[tuple[str, Mapping[str, Any]]],
    channels: Mapping[str, Any],
    *,
    answered: bool = False,
) -> None:
    """Refuse that one model call gives several values to a key that holds one and merges none.

    Args:
        updates: What layers write, each with the layer's name, the innermost first.
        channels: What holds each key.
        answered: The reply itself gives ``structured_response``.

    Raises:
        InvalidUpdateError: It names the key and the layers.
    """
    first = {"structured_response": "the reply"} if answered else dict[str, str]()
    for name, update in updates:
        for key in update:
            channel = channels.get(key)
            if not isinstance(channel, LastValue) and not getattr(channel, "guard", False):
                continue
            if key not in first:
                first[key] = name
                continue
            both = f"{first[key]} and {name} both"
            msg = (
                f"{both} wrote state key {key!r} in one model call; give the key a reducer, or let "
                "one of them write it."
            )
            raise InvalidUpdateError(msg, owner=both, key=key)
