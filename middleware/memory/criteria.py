"""What a run looks for among the memories of its scope."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypedDict, cast

from ...state.errors import InvalidInputError
from .filters import Condition, read_filters

TOP_K = 5

MOST = 100
"""Memories that one search may put before a model."""


class SearchCriteria(TypedDict, total=False):
    """The arguments of a search, each of which may be left out."""

    filters: Mapping[str, Any] | None
    """Conditions on metadata, see ``filters.py``; joined to the scope by *and*."""
    query: str | None
    """What to search for; the text of the last human message by default."""
    top_k: int
    """Memories at most, 5 by default."""
    include_memory_metadata: bool
    """Show the model the metadata of each memory, too."""


@dataclass(frozen=True)
class Search:
    """Checked criteria."""

    fits: Condition
    query: str | None = None
    top_k: int = TOP_K
    with_metadata: bool = False


def read_criteria(*given: Any) -> Search:
    """Criteria, later ones replacing earlier ones key by key.

    Raises:
        InvalidInputError: They are no dict, a key is unknown, or a value has no sense.
    """
    merged: dict[str, Any] = {}
    for criteria in given:
        if criteria is not None and not isinstance(criteria, Mapping):
            msg = f"search_criteria is {criteria!r}; give a dict such as {{'top_k': 3}}."
            raise InvalidInputError(msg, key="search_criteria")
        merged |= cast("Mapping[str, Any]", criteria or {})
    for key in merged:
        if key not in SearchCriteria.__annotations__:
            close = get_close_matches(str(key), SearchCriteria.__annotations__, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            msg = f"search_criteria has no key {key!r}.{hint}"
            raise InvalidInputError(msg, key=str(key))
    top_k, query = merged.get("top_k", TOP_K), merged.get("query")
    if not isinstance(top_k, int) or isinstance(top_k, bool) or not 1 <= top_k <= MOST:
        msg = f"top_k is {top_k!r}; give a whole number from 1 to {MOST}."
        raise InvalidInputError(msg, key="top_k")
    if query is not None and not isinstance(query, str):
        msg = f"query is {query!r}; give a text."
        raise InvalidInputError(msg, key="query")
    shown = bool(merged.get("include_memory_metadata"))
    return Search(read_filters(merged.get("filters")), query, top_k, shown)
