from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langgraph.errors import GraphInterrupt

from interlock.middleware.redaction import Redactor
from interlock.middleware.redaction.clean_error import clean_error
from interlock.state import ToolExecutionError

Make = Callable[..., Redactor]

CALL: Any = {"name": "t", "args": {}, "id": "c1"}


class ServiceError(Exception):
    """Has a text of its own."""

    def __init__(self, who: str) -> None:
        super().__init__(who, 503)
        self.who = who

    def __str__(self) -> str:
        return f"no account of {self.who}"


class StubbornError(Exception):
    """Says the same whatever is changed."""

    def __str__(self) -> str:
        return "no account of kim@x.org"


@pytest.mark.parametrize(
    "error", [ValueError("kim@x.org"), ServiceError("kim@x.org"), OSError(2, "kim@x.org", "f")]
)
def test_error_keeps_its_type_without_what_was_found(redactor: Make, error: Exception) -> None:
    clean = clean_error(error, redactor(), CALL)

    assert type(clean) is type(error)
    assert "kim" not in f"{clean} {clean!r} {vars(clean)}"
    assert "REDACTED" in str(clean)
    assert "kim" in str(error)


def test_error_that_says_nothing_sensitive_is_the_same(redactor: Make) -> None:
    plain = ValueError("plain")
    pause = GraphInterrupt()

    assert clean_error(plain, redactor(), CALL) is plain
    assert clean_error(pause, redactor(), CALL) is pause


def test_error_whose_cause_says_too_much_comes_without_it(redactor: Make) -> None:
    error = ValueError("plain")
    error.__cause__ = KeyError("kim@x.org")

    clean = clean_error(error, redactor(), CALL)

    assert isinstance(clean, ValueError)
    assert (clean.__cause__, clean.__context__, str(clean)) == (None, None, "plain")


@pytest.mark.parametrize("strategy", ["redact", "block"])
def test_error_that_cannot_be_changed_is_told_by_another_one(redactor: Make, strategy: str) -> None:
    clean = clean_error(StubbornError(), redactor("email", strategy), CALL)

    assert isinstance(clean, ToolExecutionError)
    assert "StubbornError" in str(clean)
    assert "kim" not in str(clean)
