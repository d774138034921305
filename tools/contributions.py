"""Which layer around a tool call wrote which state key, for those who watch the updates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from langgraph.types import Command

from .layers import Layer, LayerStack
from .results import CallResult


class NotingLayers(LayerStack):
    """Layers whose commands are remembered until it is known which of them count."""

    _noted: tuple[tuple[str, str, Any], ...] = ()

    def taken(self, layer: Layer, returned: Any, below: Any) -> Any:
        """What the layer returned; what it did not get from inside is its own."""
        given = {id(value) for _, value in _written(below)}
        own = [(layer.name, key, v) for key, v in _written(returned) if id(v) not in given]
        self._noted = (*self._noted, *own)
        return returned

    def contributions(self, answered: Any, result: CallResult) -> dict[str, list[str]]:
        """The state keys that layers wrote, by layer.

        Args:
            answered: What the outermost layer returned.
            result: What that came to. The answer to the call alone is no update.
        """
        keys = {k for u in result.updates for k, v in u.items() if k != "messages" or v}
        found: dict[str, list[str]] = {}
        for key, value in _written(answered):
            owner = next((o for o, k, v in self._noted if k == key and v is value), None)
            if owner is not None and key in keys - {"jump_to"}:
                found.setdefault(owner, []).append(key)
        return found


def _written(value: Any) -> Iterator[tuple[str, Any]]:
    """Each key and value that the commands in an answer write."""
    for entry in cast("list[Any]", value) if isinstance(value, list) else [value]:
        update: Any = cast("Command[Any]", entry).update if isinstance(entry, Command) else None
        if isinstance(update, Mapping):
            yield from cast("Mapping[str, Any]", update).items()
