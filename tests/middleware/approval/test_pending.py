"""What waits, read off interrupts of any origin."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.types import Interrupt

from interlock.middleware import InvalidDecisionError, PendingApproval
from interlock.middleware.approval.pending import pending_in, resume_value

APPROVE = {"type": "approve"}
FOREIGN: dict[str, Any] = {
    "action_requests": [
        {"name": "send", "args": {"to": "a"}, "description": "Send?"},
        {"name": "burn", "args": {}},
    ],
    "review_configs": [
        {"action_name": "send", "allowed_decisions": ["approve"]},
        {"action_name": "burn", "allowed_decisions": ["reject"]},
    ],
}


def test_request_made_by_langchain_is_listed_and_answered_by_position() -> None:
    waiting = pending_in([Interrupt(FOREIGN, "i1")])
    assert [(p.id, p.tool, p.allowed) for p in waiting] == [
        ("i1/0", "send", ("approve",)),
        ("i1/1", "burn", ("reject",)),
    ]
    answers = {"i1/1": {"type": "reject"}, "i1/0": APPROVE}
    assert resume_value(waiting, answers) == {"decisions": [APPROVE, {"type": "reject"}]}


def test_request_made_by_langchain_takes_all_answers_at_once() -> None:
    waiting = pending_in([Interrupt(FOREIGN, "i1")])
    with pytest.raises(InvalidDecisionError, match="i1/1"):
        resume_value(waiting, {"i1/0": APPROVE})


def test_decision_that_a_request_does_not_allow_is_refused_without_a_schema() -> None:
    (first, _) = pending_in([Interrupt(FOREIGN, "i1")])
    with pytest.raises(InvalidDecisionError, match="'reject' is not allowed"):
        first.check({"type": "reject"})


@pytest.mark.parametrize(
    "value",
    ["text", None, 3, {}, {"action_requests": []}, {"action_requests": "x", "review_configs": "y"},
     {"action_requests": [3], "review_configs": []}, {"type": "tool_approval"}],
    ids=str,
)  # fmt: skip
def test_anything_else_is_a_question(value: Any) -> None:
    (question,) = pending_in([Interrupt(value, "i1", response_schema={"type": "string"})])
    assert (question.kind, question.id, question.tool) == ("question", "i1", None)
    question.check("answer")
    with pytest.raises(InvalidDecisionError, match="'string'"):
        question.check(3)


def test_same_call_id_twice_is_told_apart_by_the_pause() -> None:
    value: dict[str, Any] = {
        "type": "tool_approval",
        "tool_call_id": "c1",
        "name": "send",
        "args": {},
    }
    waiting = pending_in([Interrupt(value, "i1"), Interrupt(value, "i2")])
    assert [p.id for p in waiting] == ["i1/c1", "i2/c1"]


def test_question_without_a_schema_takes_any_answer() -> None:
    PendingApproval("i1", "i1", "question", "?").check(object())
