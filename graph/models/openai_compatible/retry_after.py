"""How long a provider asks to wait."""

from __future__ import annotations

import math
import time
from datetime import UTC
from email.utils import parsedate_to_datetime

import httpx


def retry_after_s(headers: httpx.Headers) -> float | None:
    """Return the seconds to wait, or None where the answer does not say or makes no sense.

    A date that has passed means no wait. ``retry-after-ms`` is Azure's finer form.

    Args:
        headers: Headers of the refusal.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    if value is None:
        return None
    seconds = _number(value)
    if seconds is not None:
        return seconds
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, moment.timestamp() - time.time())


def _number(value: str | None) -> float | None:
    if value is None:
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None
