"""What tokens cost, by a table that the user gives."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

from langchain_core.messages.ai import UsageMetadata

from ..state.errors import ConfigurationError
from .spending import Used

Prices = Mapping[str, tuple[float, ...]]
"""Per model: price of a million input tokens, of a million output tokens, and, if it differs from
the first, of a million input tokens read from the provider's cache."""

ANY_MODEL = "*"
"""The name under which a price is meant for every model without one of its own."""

_VERSION = re.compile(r"[-@](?:\d[\d-]*|latest)")
_MILLION = 1_000_000
_LENGTHS = (2, 3)


def cost_of(used: Used, prices: Prices) -> float:
    """What the tokens cost, in the unit of the prices.

    Raises:
        ConfigurationError: A model was used that has no price.
    """
    return sum(_cost(usage, price_of(model, prices)) for model, usage in used.items())


def price_of(model: str, prices: Prices) -> tuple[float, ...]:
    """The price of a model: by its name, by the name without a version, or of ``"*"``.

    Providers answer with a dated name (``gpt-5-2025-08-07``) where a short one was asked for.
    Another word behind a name makes another model, with a price of its own.

    Raises:
        ConfigurationError: There is none.
    """
    named = [n for n in prices if model == n or _is_version(model, n)]
    name = max(named, key=len, default=ANY_MODEL)
    if name in prices:
        return prices[name]
    what = f"Model {model!r} has no price" if model else "A reply names no model"
    msg = f"{what}, so a budget cannot be held; add it to prices, or a price for '*'."
    raise ConfigurationError(msg)


def check_budget(max_tokens: Any, max_cost: Any, prices: Any) -> None:
    """Refuse a budget that is none, and prices that cannot be reckoned with.

    Raises:
        ConfigurationError: What is wrong, and what to give instead.
    """
    if max_tokens is None and max_cost is None:
        msg = "A budget needs max_tokens or max_cost; give one of them."
        raise ConfigurationError(msg)
    if max_tokens is not None and (
        isinstance(max_tokens, bool) or not isinstance(max_tokens, int) or max_tokens < 1
    ):
        msg = f"max_tokens is {max_tokens!r}; give a whole number from 1 on."
        raise ConfigurationError(msg)
    if max_cost is not None and not (_is_amount(max_cost) and max_cost > 0):
        msg = f"max_cost is {max_cost!r}; give an amount above 0."
        raise ConfigurationError(msg)
    if max_cost is not None and not prices:
        msg = "max_cost needs prices; give {'model': (input, output)} per million tokens."
        raise ConfigurationError(msg)
    for model, price in cast("Mapping[str, Any]", prices or {}).items():
        parts = cast("tuple[Any, ...]", price) if isinstance(price, (tuple, list)) else ()
        if len(parts) not in _LENGTHS or not all(map(_is_amount, parts)):
            msg = (
                f"The price of {model!r} is {price!r}; give (input, output) or (input, output, "
                "cached input), each per million tokens."
            )
            raise ConfigurationError(msg)


def _cost(usage: UsageMetadata, price: Iterable[float]) -> float:
    per_input, per_output, *rest = price
    details = usage.get("input_token_details") or {}
    cached = details.get("cache_read") or 0 if rest else 0
    fresh = usage["input_tokens"] - cached
    return (
        fresh * per_input + usage["output_tokens"] * per_output + cached * (rest or [0.0])[0]
    ) / _MILLION


def _is_version(model: str, name: str) -> bool:
    return model.startswith(name) and _VERSION.fullmatch(model, len(name)) is not None


def _is_amount(value: Any) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and math.isfinite(value) and value >= 0
