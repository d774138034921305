"""Which failures are worth another attempt, and after which wait.

Only before the first byte of the answer: a failure raised later never reaches this module.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

from ....state.errors import ChatModelError
from ....state.model_errors import ChatModelConnectionError, ChatModelTimeoutError
from .ports import Port

_FIRST_WAIT_S: Final = 0.5
_LONGEST_OWN_WAIT_S: Final = 8.0
_SERVER_ERRORS: Final = 500
_STATUSES: Final = frozenset({408, 409, 429})

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often to try again, and how long a provider may ask to wait."""

    max_retries: int
    """Attempts after the first."""
    max_wait_s: float
    """Longest wait a provider may ask for; a longer one ends the call."""

    async def run(
        self, attempt: Callable[[], Awaitable[T]], port: Port, left_s: Callable[[], float]
    ) -> T:
        """Return the result of the first attempt that succeeds.

        Args:
            attempt: One attempt, up to the first byte of the answer.
            port: Does the waiting.
            left_s: Seconds left before the call as a whole must end.

        Raises:
            ChatModelError: The last attempt failed, or the wait would be too long.
        """
        try:
            return await attempt()
        except ChatModelError as exc:
            if self.max_retries < 1 or not self._may_retry(exc, left_s):
                raise
            first = exc
        # Set up only after a failure: most calls never get here.
        retrying = AsyncRetrying(
            sleep=port.sleep,
            stop=stop_after_attempt(self.max_retries),
            wait=_wait,
            retry=retry_if_exception(
                lambda e: isinstance(e, ChatModelError) and self._may_retry(e, left_s)
            ),
            reraise=True,
        )
        await port.sleep(wait_s(first, 1))
        return await retrying(attempt)

    def _may_retry(self, error: ChatModelError, left_s: Callable[[], float]) -> bool:
        if not _is_worth_it(error):
            return False
        asked = error.retry_after_s
        if asked is not None and asked > self.max_wait_s:
            message = (
                f"{error} The provider asks to wait {asked:g} s; the limit is "
                f"{self.max_wait_s:g} s (max_retry_wait)."
            )
            error.args = (message,)
            return False
        return (asked or 0.0) < left_s()


def wait_s(error: BaseException | None, attempt_number: int) -> float:
    """Return the seconds to wait before the next attempt.

    Args:
        error: What the last attempt raised.
        attempt_number: How many attempts were made, from 1.
    """
    asked = error.retry_after_s if isinstance(error, ChatModelError) else None
    # Jitter keeps clients that failed together from coming back together.
    if asked is not None:
        return asked * (1 + 0.1 * random.random())  # noqa: S311  # no secret depends on it
    own: float = min(_FIRST_WAIT_S * 2 ** (attempt_number - 1), _LONGEST_OWN_WAIT_S)
    return own * (0.5 + 0.5 * random.random())  # noqa: S311


def _wait(state: RetryCallState) -> float:
    return wait_s(state.outcome.exception() if state.outcome else None, state.attempt_number + 1)


def _is_worth_it(error: ChatModelError) -> bool:
    if isinstance(error, ChatModelConnectionError):
        return error.is_retryable
    if isinstance(error, ChatModelTimeoutError) and error.status is None:
        return error.phase == "connect"
    if error.status is None or not getattr(error, "is_retryable", False):
        return False
    return error.status in _STATUSES or error.status >= _SERVER_ERRORS
