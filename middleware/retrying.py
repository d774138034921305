"""Trying again: whether, after which wait, and how often. Shared by model and tool retries."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any, Literal

from langgraph.errors import GraphBubbleUp

from ..state.errors import ConfigurationError
from ..state.fatal import fatal
from .flows import WAIT, Ask, Flow
from .retry_hints import asked_wait_s, default_retry_on

RetryOn = tuple[type[Exception], ...] | Callable[[Exception], bool]
"""The errors that are tried again: their types, or a function that tells."""

OnFailure = Literal["error", "continue"] | Callable[[Exception], str]
"""After the last attempt: raise its error, answer with a text about it, or with what a function
makes of it."""

_JITTER = 0.25
"""A wait varies by this part of itself, so that what failed together does not return together."""


@dataclass(frozen=True)
class RetryPolicy:
    """When a failed call is made again: pure decisions, no waiting."""

    max_retries: int = 2
    """Attempts after the first."""
    retry_on: RetryOn = default_retry_on
    on_failure: OnFailure = "continue"
    backoff_factor: float = 2.0
    """Each wait is this many times the one before; 0 keeps it constant."""
    initial_delay: float = 1.0
    """Seconds before the first retry."""
    max_delay: float = 60.0
    """Longest wait in seconds, also of what a provider may ask for."""
    jitter: bool = True

    def __post_init__(self) -> None:
        for name in ("max_retries", "initial_delay", "max_delay", "backoff_factor"):
            value: Any = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= 0:
                msg = f"{name} must be >= 0, but is {value!r}; give a number."
                raise ConfigurationError(msg)
        if not callable(self.on_failure) and self.on_failure not in ("error", "continue"):
            msg = (
                f"on_failure is {self.on_failure!r}; give 'error', 'continue' or a function of "
                "the error."
            )
            raise ConfigurationError(msg)
        if not callable(self.retry_on) and not _are_error_types(self.retry_on):
            msg = (
                f"retry_on is {self.retry_on!r}; give a tuple of exception types or a function "
                "of the error."
            )
            raise ConfigurationError(msg)

    def retries(self, error: Exception) -> bool:
        """Whether an error is one to try again after."""
        if callable(self.retry_on):
            return self.retry_on(error)
        return isinstance(error, self.retry_on)

    def wait_s(self, error: Exception, retries_made: int) -> float | None:
        """Seconds to wait before the next attempt, or None to give up.

        A wait that the error asks for is kept to, if it is longer than our own. One beyond
        ``max_delay`` ends the attempts: coming back earlier would fail again.

        Args:
            error: What the last attempt raised.
            retries_made: Retries so far.
        """
        if retries_made >= self.max_retries:
            return None
        asked = asked_wait_s(error)
        if asked is not None and asked > self.max_delay:
            return None
        return max(asked or 0.0, self.backoff_s(retries_made))

    def backoff_s(self, retries_made: int) -> float:
        """Our own wait in seconds, with jitter."""
        # A power above this is beyond any max_delay, and one far above it is no float any more.
        growth = self.backoff_factor ** min(retries_made, 64) if self.backoff_factor else 1.0
        wait = min(self.initial_delay * growth, self.max_delay)
        if not self.jitter:
            return wait
        spread = random.uniform(1 - _JITTER, 1 + _JITTER)  # noqa: S311 - no secret depends on it
        return min(wait * spread, self.max_delay)


class Retrying:
    """The settings of a middleware that retries, each readable under its own name."""

    def __init__(self, policy: RetryPolicy) -> None:
        self.policy = policy

    @property
    def max_retries(self) -> int:
        """Attempts after the first."""
        return self.policy.max_retries

    @property
    def retry_on(self) -> RetryOn:
        """The errors that are tried again."""
        return self.policy.retry_on

    @property
    def on_failure(self) -> OnFailure:
        """What the last failure comes to."""
        return self.policy.on_failure

    @property
    def backoff_factor(self) -> float:
        """Growth of the waits."""
        return self.policy.backoff_factor

    @property
    def initial_delay(self) -> float:
        """Seconds before the first retry."""
        return self.policy.initial_delay

    @property
    def max_delay(self) -> float:
        """Longest wait in seconds."""
        return self.policy.max_delay

    @property
    def jitter(self) -> bool:
        """Whether waits vary."""
        return self.policy.jitter


def retry_flow(
    request: Any, policy: RetryPolicy, give_up: Callable[[Exception, int], Any]
) -> Flow[Any]:
    """Send a request until it succeeds or the policy ends it.

    Args:
        request: What the handler is given, each time the same.
        policy: When to go on.
        give_up: Called with the last error and the number of attempts made; returns the answer.

    Raises:
        GraphBubbleUp: An interrupt or another signal passes at once.
        Exception: One that the policy does not retry, or that it raises after the last attempt.
    """
    for retries_made in count():
        try:
            return (yield request)
        except GraphBubbleUp:
            raise
        except Exception as error:
            if not policy.retries(error):
                raise
            wait = policy.wait_s(error, retries_made)
            if wait is None:
                if policy.on_failure == "error":
                    fatal(error)
                    raise
                return give_up(error, retries_made + 1)
        if wait > 0:
            yield Ask(WAIT, (wait,))
    raise AssertionError  # pragma: no cover - count() has no end


def attempts_text(attempts: int, error: Exception, text: str) -> str:
    """``failed after 3 attempts with TimeoutError: …``."""
    word = "attempt" if attempts == 1 else "attempts"
    return f"failed after {attempts} {word} with {type(error).__name__}: {text}"


def _are_error_types(value: Any) -> bool:
    return isinstance(value, tuple) and all(
        isinstance(kind, type) and issubclass(kind, Exception)
        for kind in value  # pyright: ignore[reportUnknownVariableType]
    )
