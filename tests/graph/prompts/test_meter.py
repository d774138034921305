"""What a rendering costs is taken off before it is done."""

from __future__ import annotations

from typing import Any

import pytest
from jinja2.exceptions import SecurityError

from interlock.graph.prompts.meter import ITEM, MAX_WORK, Meter


@pytest.mark.parametrize(
    ("left", "right"), [("a", 10**9), (10**9, "a"), ([1], 10**9), (1 << 4000, 1 << 4000)]
)
def test_a_product_that_is_too_large_is_refused_before_it_is_made(left: Any, right: Any) -> None:
    with pytest.raises(SecurityError):
        Meter().multiply(left, right)


@pytest.mark.parametrize(("left", "right"), [(9, 10**9), (1 << 4000, 2), ("a", 2), (2, [1])])
def test_a_power_that_is_too_large_or_none_is_refused(left: Any, right: Any) -> None:
    with pytest.raises(SecurityError):
        Meter().power(left, right)


def test_small_numbers_and_negative_counts_cost_nothing() -> None:
    meter = Meter()
    meter.multiply(3, 4)
    meter.multiply("a", -1)
    meter.power(2, 10)
    assert meter.left == MAX_WORK


def test_what_is_inside_twice_is_weighed_twice() -> None:
    inner = ["a" * 100]
    once, twice = Meter(), Meter()
    once.weigh([inner])
    twice.weigh([inner, inner])
    assert MAX_WORK - twice.left > MAX_WORK - once.left + 100 + ITEM


def test_a_value_that_is_too_heavy_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(SecurityError, match="more work"):
        Meter().weigh(endless)


def test_a_look_at_text_costs_less_than_writing_it() -> None:
    looked, weighed = Meter(), Meter()
    looked.look(["a" * 1_600])
    weighed.weigh(["a" * 1_600])
    assert looked.left - weighed.left == 1_500
