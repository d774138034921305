"""Requests spread over time, so that a provider's limit is not run into."""

from __future__ import annotations

import math
from threading import Lock

from ...state.errors import ConfigurationError


class RateLimit:
    """Tells each request how long to wait for its turn.

    >>> limit = RateLimit(per_minute=60)
    >>> limit.reserve(now=0.0), limit.reserve(now=0.0), limit.reserve(now=10.0)
    (0.0, 1.0, 0.0)

    Source: the generic cell rate algorithm, ITU-T Recommendation I.371, 2004.
    """

    def __init__(self, *, per_minute: float, burst: int = 1) -> None:
        """Make a limit.

        Args:
            per_minute: Requests per minute in the long run.
            burst: Requests that may go out at once after a pause.

        Raises:
            ConfigurationError: A number lets nothing pass.
        """
        if not per_minute > 0 or not math.isfinite(per_minute) or burst < 1:
            msg = (
                f"A rate limit of {per_minute!r} requests per minute in bursts of {burst!r} lets "
                "nothing pass; give positive numbers."
            )
            raise ConfigurationError(msg)
        self._interval_s = 60 / per_minute
        self._slack_s = self._interval_s * (burst - 1)
        self._due = -math.inf
        self._lock = Lock()

    def reserve(self, now: float) -> float:
        """Take the next turn and give the seconds to wait for it.

        Args:
            now: Seconds of a clock that does not go back.
        """
        with self._lock:
            due = max(self._due, now)
            self._due = due + self._interval_s
            return max(0.0, due - self._slack_s - now)
