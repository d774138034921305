from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages.ai import UsageMetadata

from interlock.middleware.prices import check_budget, cost_of, price_of
from interlock.state.errors import ConfigurationError

PRICES = {"gpt-5": (2.0, 10.0), "claude": (3.0, 15.0, 0.3)}


def _usage(tokens_in: int, tokens_out: int, cached: int = 0) -> UsageMetadata:
    return {
        "input_tokens": tokens_in,
        "output_tokens": tokens_out,
        "total_tokens": tokens_in + tokens_out,
        "input_token_details": {"cache_read": cached},
    }


def test_models_cost_what_each_of_them_used() -> None:
    used = {"gpt-5": _usage(1_000_000, 100_000), "claude": _usage(500_000, 0)}
    assert cost_of(used, PRICES) == pytest.approx(2.0 + 1.0 + 1.5)


def test_cached_input_has_its_own_price_where_there_is_one() -> None:
    used = _usage(1_000_000, 0, cached=900_000)
    assert cost_of({"claude": used}, PRICES) == pytest.approx(0.3 + 0.27)
    assert cost_of({"gpt-5": used}, PRICES) == pytest.approx(2.0)


@pytest.mark.parametrize("name", ["gpt-5", "gpt-5-2025-08-07", "gpt-5-latest", "gpt-5@20250807"])
def test_version_of_a_model_has_its_price(name: str) -> None:
    assert price_of(name, PRICES) == (2.0, 10.0)


@pytest.mark.parametrize("name", ["gpt-5-pro", "gpt-50", "other", ""])
def test_model_without_a_price_is_an_error(name: str) -> None:
    with pytest.raises(ConfigurationError, match=r"a price for '\*'"):
        price_of(name, PRICES)
    assert price_of(name, {**PRICES, "*": (1.0, 1.0)}) == (1.0, 1.0)


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_cost_is_never_negative(tokens_in: int, tokens_out: int) -> None:
    used = _usage(tokens_in, tokens_out, cached=tokens_in)
    assert cost_of({"claude": used}, PRICES) >= 0


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ((None, None, None), "max_tokens or max_cost"),
        ((0, None, None), "max_tokens is 0"),
        ((True, None, None), "max_tokens is True"),
        ((None, 0, PRICES), "max_cost is 0"),
        ((None, float("nan"), PRICES), "max_cost is nan"),
        ((None, 1.0, None), "needs prices"),
        ((None, 1.0, {"m": (1.0,)}), "price of 'm'"),
        ((None, 1.0, {"m": (1.0, -2.0)}), "price of 'm'"),
        ((None, 1.0, {"m": 3.0}), "price of 'm'"),
    ],
)
def test_wrong_setting_is_named(settings: Any, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        check_budget(*settings)
