from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.graph.extraction import RateLimit
from interlock.state.errors import ConfigurationError

GAPS = st.lists(st.floats(0, 10), max_size=60)


@given(GAPS, st.integers(1, 600), st.integers(1, 5))
def test_no_minute_has_more_requests_than_the_limit_and_one_burst(
    gaps: list[float], per_minute: int, burst: int
) -> None:
    limit, now, sent = RateLimit(per_minute=per_minute, burst=burst), 0.0, list[float]()
    for gap in gaps:
        now += gap
        sent.append(now + limit.reserve(now))

    for start in sent:
        assert sum(start <= at < start + 60 - 1e-6 for at in sent) <= per_minute + burst


def test_burst_after_a_pause_does_not_wait() -> None:
    limit = RateLimit(per_minute=60, burst=3)

    assert [limit.reserve(100.0) for _ in range(4)] == [0.0, 0.0, 0.0, 1.0]


@pytest.mark.parametrize(("per_minute", "burst"), [(0, 1), (-1, 1), (float("nan"), 1), (60, 0)])
def test_limit_that_lets_nothing_pass_is_refused(per_minute: float, burst: int) -> None:
    with pytest.raises(ConfigurationError, match="lets nothing pass"):
        RateLimit(per_minute=per_minute, burst=burst)
