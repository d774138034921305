"""Where in a reply a text stands, while the reply arrives in pieces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, cast


class Item(NamedTuple):
    """A step to an entry of a list."""

    label: Any
    """Its index, or what it is."""
    indexed: bool
    """Pieces with the same index come to one entry; without, each is an entry of its own."""


Path = tuple[Any, ...]
"""Steps from the message inwards: keys, and items of lists."""


def item_of(entry: Mapping[str, Any]) -> Item:
    """The step to an entry of a list."""
    index = entry.get("index")
    return Item(entry.get("type"), indexed=False) if index is None else Item(index, indexed=True)


def rebuilt(path: Path, text: str, skeletons: Mapping[Path, Mapping[str, Any]]) -> dict[str, Any]:
    """Fields of a message that hold nothing but a text in its place.

    Args:
        path: The place of the text.
        text: The text.
        skeletons: What else names an entry of a list, by its path.
    """
    value: Any = text
    for length in range(len(path), 0, -1):
        step = path[length - 1]
        if isinstance(step, Item):
            value = [{**skeletons.get(path[:length], {}), **value}]
        else:
            value = {step: value}
    return cast("dict[str, Any]", value)
