from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda

from interlock.middleware.classifier import Classifier, read_answer
from interlock.middleware.flows import adrive, drive
from interlock.state import ConfigurationError


@pytest.mark.parametrize(
    ("answer", "flagged", "reason"),
    [
        (True, True, "flagged"),
        (False, False, ""),
        ("safe", False, ""),
        ("Safe.", False, ""),
        ("unsafe\nS1, S2", True, "S1, S2"),
        ("unsafe because of violence", True, "because of violence"),
        (AIMessage("SAFE"), False, ""),
        (AIMessage("unsafe"), True, "unsafe"),
        ({"flagged": False}, False, ""),
        ({"flagged": True, "reason": "hate"}, True, "hate"),
        ({"flagged": True, "categories": {"hate": True, "spam": False}}, True, "hate"),
        ({"unsafe": True, "categories": ["S1", "S2"]}, True, "S1, S2"),
        ({"results": [{"flagged": False}, {"flagged": True}]}, True, "flagged"),
        ({"results": [{"flagged": False}]}, False, ""),
        (SimpleNamespace(flagged=True, reason="x"), True, "x"),
    ],
)
def test_answer_is_read_in_any_usual_notation(answer: Any, flagged: bool, reason: str) -> None:
    verdict = read_answer(answer)

    assert (verdict.flagged, verdict.reason) == (flagged, reason)


@pytest.mark.parametrize(
    "answer", [None, "", "I think it is fine", 0, 0.9, {}, [], {"flagged": "no"}]
)
def test_answer_that_says_nothing_flags(answer: Any) -> None:
    assert read_answer(answer).flagged


@pytest.mark.parametrize("mode", ["sync", "async"])
@pytest.mark.parametrize("kind", ["function", "runnable"])
async def test_classifier_of_any_kind_is_asked(mode: str, kind: str) -> None:
    def check(text: str) -> bool:
        return "bad" in text

    classifier = Classifier.of(RunnableLambda(check) if kind == "runnable" else check, timeout_s=5)
    if mode == "sync":
        verdicts = [drive(classifier.verdict(t)) for t in ("bad", "good")]
    else:
        verdicts = [await adrive(classifier.verdict(t)) for t in ("bad", "good")]

    assert [v.flagged for v in verdicts] == [True, False]


def test_failure_flags_and_says_no_more_than_its_kind() -> None:
    def check(_text: str) -> bool:
        msg = "key sk-123"
        raise RuntimeError(msg)

    verdict = drive(Classifier.of(check, timeout_s=None).verdict("x"))

    assert verdict.flagged
    assert verdict.reason == "it could not be checked (RuntimeError)"


async def test_answer_that_takes_too_long_flags() -> None:
    async def check(_text: str) -> bool:
        import asyncio  # noqa: PLC0415

        await asyncio.Event().wait()
        return False

    verdict = await adrive(Classifier.of(check, timeout_s=0.01).verdict("x"))

    assert verdict.flagged
    assert "TimeoutError" in verdict.reason


def test_answer_can_be_made_readable() -> None:
    def score(_text: str) -> float:
        return 0.9

    classifier = Classifier.of(score, timeout_s=None, read=lambda score: score > 0.5)

    assert drive(classifier.verdict("x")).flagged


@pytest.mark.parametrize(("classifier", "timeout_s"), [(5, None), (print, 0), (print, -1.0)])
def test_unusable_setting_is_refused(classifier: Any, timeout_s: float | None) -> None:
    with pytest.raises(ConfigurationError):
        Classifier.of(classifier, timeout_s=timeout_s)
