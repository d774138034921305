from __future__ import annotations

from typing import Any

import pytest

from interlock.middleware.redaction.builtin import bounded, resolve_detector
from interlock.state.errors import ConfigurationError
from interlock.state.guardrail_errors import DetectorError


def test_unknown_kind_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigurationError, match=r"Unknown PII type 'mail'; built in are .*email"):
        resolve_detector("mail", None, 100)


def test_given_detector_takes_the_place_of_a_built_in_one() -> None:
    detect = resolve_detector("email", r"x\d", 100)

    assert [m["value"] for m in detect("kim@example.com x1")] == ["x1"]


def test_detector_that_is_no_function_is_refused() -> None:
    detector: Any = 5
    with pytest.raises(ConfigurationError, match="detector is 5"):
        resolve_detector("x", detector, 100)


def test_detector_that_fails_lets_nothing_pass() -> None:
    def broken(_text: str) -> Any:
        msg = "with the text kim@example.com in it"
        raise RuntimeError(msg)

    with pytest.raises(DetectorError, match="failed with RuntimeError") as caught:
        bounded("x", broken, 100)("text")
    assert "kim" not in str(caught.value)


def test_text_that_is_too_long_for_a_detector_does_not_pass() -> None:
    with pytest.raises(DetectorError, match="101 characters"):
        bounded("x", lambda _: [], 100)("a" * 101)
