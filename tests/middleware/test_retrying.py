from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.errors import GraphInterrupt

from interlock.middleware.flows import Ask
from interlock.middleware.retrying import RetryPolicy, retry_flow
from interlock.state.errors import ConfigurationError
from interlock.state.fatal import is_fatal
from interlock.state.model_errors import ChatModelRateLimitError


def _give_up(error: Exception, attempts: int) -> Any:
    return type(error).__name__, attempts


def _play(policy: RetryPolicy, *errors: Exception) -> tuple[Any, list[Any]]:
    """The answer of a flow whose requests fail with the given errors, and its waits."""
    flow = retry_flow("request", policy, _give_up)
    waits: list[Any] = []
    pending = list(errors)
    try:
        wanted = next(flow)
        while True:
            if isinstance(wanted, Ask):
                waits += wanted.args
                wanted = flow.send(None)
            elif pending:
                wanted = flow.throw(pending.pop(0))
            else:
                wanted = flow.send("answer")
    except StopIteration as stop:
        return stop.value, waits


def test_waits_grow_up_to_the_longest() -> None:
    policy = RetryPolicy(max_retries=4, initial_delay=1, max_delay=3, jitter=False)
    assert _play(policy, *[ValueError()] * 4) == ("answer", [1, 2, 3, 3])


def test_constant_wait_with_factor_zero() -> None:
    policy = RetryPolicy(max_retries=3, initial_delay=2, backoff_factor=0, jitter=False)
    assert _play(policy, ValueError(), ValueError()) == ("answer", [2, 2])


def test_last_failure_is_handed_on_with_the_attempts_made() -> None:
    policy = RetryPolicy(max_retries=2, initial_delay=0)
    assert _play(policy, *[ValueError()] * 3) == (("ValueError", 3), [])


def test_failure_is_raised_where_it_is_to_end_the_run() -> None:
    policy = RetryPolicy(max_retries=1, initial_delay=0, on_failure="error")
    with pytest.raises(ValueError, match="second") as caught:
        _play(policy, ValueError("first"), ValueError("second"))
    assert is_fatal(caught.value)


def test_error_that_is_not_retried_passes_at_once() -> None:
    policy = RetryPolicy(retry_on=(ValueError,))
    with pytest.raises(KeyError) as caught:
        _play(policy, KeyError("x"))
    assert not is_fatal(caught.value)


def test_signal_passes_whatever_is_retried() -> None:
    policy = RetryPolicy(retry_on=(Exception,))
    with pytest.raises(GraphInterrupt):
        _play(policy, GraphInterrupt())


def test_longer_wait_that_the_provider_asks_for_is_kept() -> None:
    policy = RetryPolicy(initial_delay=1, jitter=False)
    error = ChatModelRateLimitError("x", retry_after_s=20)
    assert _play(policy, error) == ("answer", [20])


def test_wait_beyond_the_longest_ends_the_attempts() -> None:
    policy = RetryPolicy(max_retries=5, max_delay=60)
    error = ChatModelRateLimitError("x", retry_after_s=86_400)
    assert _play(policy, error) == (("ChatModelRateLimitError", 1), [])


@pytest.mark.parametrize(
    "settings",
    [
        {"max_retries": -1},
        {"initial_delay": -0.1},
        {"max_delay": -1},
        {"backoff_factor": float("nan")},
        {"max_retries": True},
        {"on_failure": "ignore"},
        {"retry_on": "ValueError"},
        {"retry_on": (ValueError, "KeyError")},
    ],
)
def test_wrong_setting_is_named(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(settings))):
        RetryPolicy(**settings)


@given(
    factor=st.floats(0, 10),
    initial=st.floats(0, 1e6),
    longest=st.floats(0, 1e6),
    retries=st.integers(0, 10_000),
    jitter=st.booleans(),
)
def test_own_wait_never_exceeds_the_longest(
    factor: float, initial: float, longest: float, retries: int, *, jitter: bool
) -> None:
    policy = RetryPolicy(
        backoff_factor=factor, initial_delay=initial, max_delay=longest, jitter=jitter
    )
    assert 0 <= policy.backoff_s(retries) <= longest
