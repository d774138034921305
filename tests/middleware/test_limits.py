from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.middleware.limits import check_limits, split_calls
from interlock.state.errors import ConfigurationError


@given(
    count=st.integers(0, 8),
    thread_left=st.none() | st.integers(-3, 9),
    run_left=st.none() | st.integers(-3, 9),
)
def test_split_keeps_every_call_in_order_and_within_both_limits(
    count: int, thread_left: int | None, run_left: int | None
) -> None:
    calls: list[Any] = list(range(count))
    split = split_calls(calls, thread_left, run_left)
    assert [*split.allowed, *split.refused] == calls
    assert all(len(split.allowed) <= max(n, 0) for n in (thread_left, run_left) if n is not None)


@pytest.mark.parametrize("limit", [-1, True, 2.0, "3"])
def test_limit_that_is_no_count_is_refused(limit: Any) -> None:
    with pytest.raises(ConfigurationError, match="whole number from 0 on"):
        check_limits(limit, None)
