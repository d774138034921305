from __future__ import annotations

from typing import Any

import pytest

from interlock.graph.models.openai_compatible.usage import read_usage


def test_counts_and_details_are_read() -> None:
    assert read_usage(
        {
            "prompt_tokens": 10,
            "completion_tokens": 5,
            "total_tokens": 15,
            "prompt_tokens_details": {"cached_tokens": 4, "audio_tokens": 1},
            "completion_tokens_details": {"reasoning_tokens": 3},
        }
    ) == {
        "input_tokens": 10,
        "output_tokens": 5,
        "total_tokens": 15,
        "input_token_details": {"cache_read": 4, "audio": 1},
        "output_token_details": {"reasoning": 3},
    }


@pytest.mark.parametrize(
    ("usage", "cached"),
    [
        ({"prompt_cache_hit_tokens": 4}, 4),
        ({"cached_tokens": 2}, 2),
        ({"input_tokens_details": {"cached_tokens": 0}}, 0),
    ],
    ids=["deepseek", "moonshot", "none"],
)
def test_cached_tokens_are_found_where_the_provider_puts_them(
    usage: dict[str, Any], cached: int
) -> None:
    found = read_usage({"prompt_tokens": 9, "completion_tokens": 1, **usage})

    assert found is not None
    assert found.get("input_token_details") == {"cache_read": cached}


def test_total_is_added_up_where_it_is_missing() -> None:
    found = read_usage({"input_tokens": 2, "output_tokens": 3.0})

    assert found == {"input_tokens": 2, "output_tokens": 3, "total_tokens": 5}


@pytest.mark.parametrize("usage", [None, {}, [], "5", {"prompt_tokens": "many"}, {"cost": 1}])
def test_nothing_usable_is_no_usage(usage: object) -> None:
    assert read_usage(usage) is None
