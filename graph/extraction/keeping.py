"""Values that a file cannot keep."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from .result import Extraction
from .result_file import plain_value


def kept_or_rejected(result: Extraction[Any]) -> Extraction[Any]:
    """Give a result that can be written as JSON: itself, or a rejection where it cannot.

    One value that is, say, infinite must not end a job of a million records.
    """
    if result.rejected:
        return result
    try:
        json.dumps([result.data, plain_value(result)], allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        return replace(
            result,
            value=None,
            data=None,
            error=f"the value is no JSON and cannot be kept: {error}",
            error_type=type(error).__name__,
            last_output=repr(result.data),
        )
    return result
