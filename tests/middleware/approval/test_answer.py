"""Which call each decision of an answer is about."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.middleware import InvalidDecisionError, NotWaitingError
from interlock.middleware.approval.answer import read_answer
from interlock.middleware.approval.request import Asked

ASKED = [Asked("send", {}, "", ("approve", "reject"), ident) for ident in ("c1", "c2")]
YES, NO = {"type": "approve"}, {"type": "reject"}


def test_list_goes_by_position_and_object_by_id() -> None:
    assert read_answer({"decisions": [YES, NO]}, ASKED) == {"c1": YES, "c2": NO}
    assert read_answer({"decisions": {"c2": YES}}, ASKED) == {"c2": YES}


@pytest.mark.parametrize("number", [0, 1, 3])
def test_wrong_number_is_refused_with_both_numbers(number: int) -> None:
    with pytest.raises(InvalidDecisionError, match=rf"decisions \({number}\).*calls \(2\)"):
        read_answer({"decisions": [YES] * number}, ASKED)


@pytest.mark.parametrize(
    "answer", [None, "yes", [YES], {}, {"decisions": None}, {"decisions": {}}, {"x": 1}], ids=str
)
def test_other_form_is_refused(answer: Any) -> None:
    with pytest.raises(InvalidDecisionError, match="c1"):
        read_answer(answer, ASKED)


def test_call_that_does_not_wait_is_named() -> None:
    with pytest.raises(NotWaitingError, match="'c9'") as refused:
        read_answer({"decisions": {"c9": YES}}, ASKED)
    assert (refused.value.asked, refused.value.waiting) == (("c9",), ("c1", "c2"))


@pytest.mark.parametrize("decision", [{"type": "respond"}, {}, None, "approve"], ids=str)
def test_decision_that_is_not_allowed_is_refused_with_those_that_are(decision: Any) -> None:
    with pytest.raises(InvalidDecisionError, match=r"\['approve', 'reject'\]") as refused:
        read_answer({"decisions": [YES, decision]}, ASKED)
    assert refused.value.call_id == "c2"


def test_error_does_not_repeat_a_long_answer() -> None:
    with pytest.raises(InvalidDecisionError) as refused:
        read_answer({"decisions": [YES, {"type": "x" * 10_000}]}, ASKED)
    assert len(str(refused.value)) < 1_000
