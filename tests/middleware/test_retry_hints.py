from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.exceptions import ModelAuthenticationError, ModelRateLimitError

from interlock.middleware.retry_hints import asked_wait_s, default_retry_on
from interlock.state.errors import (
    ConfigurationError,
    StructuredOutputError,
    ToolExecutionError,
)
from interlock.state.model_errors import ChatModelRequestError, ChatModelServerError
from interlock.state.structured_errors import RefusedAnswerError


class _HttpError(Exception):
    """An error as clients of providers raise it."""

    def __init__(self, status: int | None = None, headers: dict[str, str] | None = None) -> None:
        super().__init__("failed: retryable, not retryable")
        self.response = SimpleNamespace(status_code=status, headers=headers or {})


@pytest.mark.parametrize(
    ("error", "retried"),
    [
        (ModelRateLimitError("x"), True),
        (ModelAuthenticationError("x"), False),
        (ChatModelServerError("x"), True),
        (ChatModelRequestError("x"), False),
        (StructuredOutputError("x"), True),
        (RefusedAnswerError("x", text="no"), False),
        (ConfigurationError("x"), False),
        (ToolExecutionError("x", tool_name="t"), False),
        (_HttpError(429), True),
        (_HttpError(503), True),
        (_HttpError(400), False),
        (_HttpError(401), False),
        (ValueError("400 invalid request"), True),
        (KeyboardInterrupt(), False),
    ],
)
def test_family_and_status_decide_not_the_words(error: BaseException, *, retried: bool) -> None:
    assert default_retry_on(error) is retried


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        (ChatModelServerError("x", retry_after_s=7.5), 7.5),
        (_HttpError(429, {"Retry-After": "3"}), 3.0),
        (_HttpError(429, {"retry-after-ms": "250", "retry-after": "9"}), 0.25),
        (_HttpError(429, {"Retry-After": "soon"}), None),
        (_HttpError(429, {"Retry-After": "-1"}), None),
        (_HttpError(429, {"Retry-After": "inf"}), None),
        (_HttpError(429), None),
        (ValueError("x"), None),
    ],
)
def test_wait_is_read_from_the_error_or_its_response(error: Any, seconds: float | None) -> None:
    assert asked_wait_s(error) == seconds


def test_wait_until_a_date() -> None:
    moment = datetime.now(UTC) + timedelta(seconds=90)
    asked = asked_wait_s(_HttpError(503, {"Retry-After": format_datetime(moment)}))
    assert asked == pytest.approx(90, abs=5)


def test_date_that_has_passed_means_no_wait() -> None:
    assert asked_wait_s(_HttpError(503, {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"})) == 0
