"""How long a provider asks to wait: the header, in both of its forms, read once for all."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any


def wait_in_headers(headers: Mapping[str, Any]) -> float | None:
    """Return the seconds to wait, or None where the headers do not say or make no sense.

    A date that has passed means no wait. ``retry-after-ms`` is Azure's finer form.

    Args:
        headers: Headers of an answer, their names in lower case or in a mapping that does not
            mind the case.

    Source: RFC 9110, section 10.2.3, 2022.
    """
    milliseconds = seconds_in(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = seconds_in(value)
    return seconds if seconds is not None else _until(value)


def seconds_in(value: Any) -> float | None:
    """A number of seconds, or None where the value is no finite number from 0 on."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _until(value: Any) -> float | None:
    """Seconds until a date, or None where the value is none."""
    if not isinstance(value, str):
        return None
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, moment.timestamp() - time.time())
