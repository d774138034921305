"""Finding memories: the store narrows down, the scope is checked again, the best ones are shown."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, cast

from langgraph.store.base import SearchItem

from .criteria import Search
from .scope import ROOT, MemoryScope

CANDIDATES = 1_000
"""Memories of a scope that one search looks at: the nearest ones, or the newest where the store has
no index."""

_WORD = re.compile(r"\w+")


def best(
    items: Iterable[SearchItem],
    search: Search,
    query: str,
    scope: MemoryScope,
    root: tuple[str, ...] = ROOT,
    known: Collection[str] = (),
) -> list[Mapping[str, Any]]:
    """The values of the memories to show, the best first.

    A store with an index has ranked them by meaning. One without has not looked at the query:
    then the words that a memory shares with it count, and among equals the newer one.

    Args:
        items: What the store found.
        search: The criteria.
        query: What is searched for.
        scope: Whose memories may be shown.
        root: First labels of the namespace.
        known: Ids of messages that the model reads anyway.
    """
    fitting = [item for item in items if _fits(item, search, scope, root, known)]
    if all(item.score is None for item in fitting):
        wanted = _words(query)
        shared = [(len(wanted & _words(str(i.value.get("text", "")))), i) for i in fitting]
        ranked = sorted(shared, key=lambda pair: (pair[0], pair[1].updated_at), reverse=True)
        fitting = [item for _, item in ranked]
    return [item.value for item in fitting[: search.top_k]]


def _fits(
    item: SearchItem,
    search: Search,
    scope: MemoryScope,
    root: tuple[str, ...],
    known: Collection[str],
) -> bool:
    text, metadata = item.value.get("text"), item.value.get("metadata")
    # What somebody else put there must not end the runs of the one whose memories these are.
    if not isinstance(text, str):
        return False
    sources: Any = item.value.get("sources")
    origin = cast("list[Any]", sources) if isinstance(sources, list) else []
    return (
        scope.owns(tuple(item.namespace), item.value, root)
        and search.fits(
            cast("Mapping[str, Any]", metadata) if isinstance(metadata, Mapping) else {}
        )
        and not (origin and all(source in known for source in origin if isinstance(source, str)))
    )


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))
