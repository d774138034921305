"""Hostile text costs its length: twice the text takes about twice the time, not four times."""

from __future__ import annotations

import re
import time

import pytest

from interlock.middleware.redaction import BUILTIN_DETECTORS, Detector, PIIMatch

NOISE = [
    *("a.", "1.1.1.", "a@a.", "00:11:", "1234 ", "a.b/", "123-45-", "4 ", "@", "x@x.x@", "::"),
    *("f:", "DE89", "[at]", "://a:", "http://", ")", "eyJ", "token=", "+1 ", "0 1", "sk-", "é"),
    *("-----BEGIN PRIVATE KEY-----", "4111 1111 1111 1112 ", "0.0.0.0:", "www.", '" @', "\u200b"),
    *("aaaaa:a:", "x:a:", "://a:b", "token=12345678,", "password:", "hw:00:"),
]


def seconds(detect: Detector, text: str) -> float:
    began = time.thread_time()
    detect(text)
    return time.thread_time() - began


def is_quadratic(detect: Detector, noise: str, longest: int = 50_000) -> bool:
    """Whether four times the text takes far more than four times as long, again and again.

    The square of it would take sixteen times as long.
    """
    short, long = ((noise * longest)[:size] for size in (longest // 4, longest))
    return all(seconds(detect, long) > 9 * seconds(detect, short) + 0.05 for _ in range(3))


@pytest.mark.parametrize("kind", list(BUILTIN_DETECTORS))
def test_detector_is_linear_on_hostile_text(kind: str) -> None:
    detect = BUILTIN_DETECTORS[kind]

    assert [noise for noise in NOISE if is_quadratic(detect, noise)] == []


def test_quadratic_detector_would_be_noticed() -> None:
    def detect(text: str) -> list[PIIMatch]:
        run = re.compile(r"[ab]*x")
        assert not any(run.match(text, n) for n in range(len(text)))
        return []

    assert any(is_quadratic(detect, "ab", 16_000) for _ in range(5))
