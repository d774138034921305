from __future__ import annotations

from typing import Any

import pytest

from interlock.middleware.memory.criteria import read_criteria
from interlock.state import InvalidInputError


def test_five_memories_without_metadata_are_the_default() -> None:
    search = read_criteria(None, None)
    assert (search.query, search.top_k, search.with_metadata) == (None, 5, False)


def test_a_run_replaces_criteria_key_by_key() -> None:
    search = read_criteria({"top_k": 3, "query": "tea"}, {"query": "coffee"})
    assert (search.query, search.top_k) == ("coffee", 3)


@pytest.mark.parametrize("top_k", [0, -1, 101, 2.5, "3", True, None])
def test_top_k_is_a_sensible_number(top_k: Any) -> None:
    with pytest.raises(InvalidInputError, match="top_k"):
        read_criteria({"top_k": top_k})


@pytest.mark.parametrize("given", ["tea", ["tea"], 3])
def test_criteria_are_a_dict(given: Any) -> None:
    with pytest.raises(InvalidInputError, match="search_criteria"):
        read_criteria(given)


def test_an_unknown_key_is_refused_with_a_hint() -> None:
    with pytest.raises(InvalidInputError, match=r"'topk'.*'top_k'"):
        read_criteria({"topk": 3})


def test_a_query_is_a_text() -> None:
    with pytest.raises(InvalidInputError, match="query"):
        read_criteria({"query": 3})
