"""What waits, read off interrupts of any origin."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
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


FORMLESS: list[Any] = [
    {"type": "tool_approval", "tool_call_id": "c1"},
    {"type": "tool_approval", "tool_call_id": 5, "name": "send"},
    {"type": "tool_approval", "tool_call_id": "c1", "name": "send", "args": [1]},
    {"action_requests": [{"name": "send", "args": "rm"}], "review_configs": []},
    {"action_requests": [{"args": {}}], "review_configs": []},
]


@pytest.mark.parametrize("value", FORMLESS, ids=str)
def test_what_has_not_the_form_of_a_request_is_a_question(value: Any) -> None:
    (waiting,) = pending_in([Interrupt(value, "i1")])
    assert (waiting.kind, waiting.id, waiting.value) == ("question", "i1", value)


WORDS = [
    "type", "tool_call_id", "name", "args", "action_requests", "review_configs", "action_name",
    "allowed_decisions", "description", "args_schema", "$defs", "$ref", "#/$defs/a",
    "properties", "decisions", "oneOf", "anyOf", "prefixItems", "discriminator", "mapping",
    "const", "enum", "required", "tool_approval", "approve", "edit", "object", "string", "a",
]  # fmt: skip
NAMES = st.sampled_from(WORDS)
ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=12,
)


@given(value=ANYTHING, schema=ANYTHING, answer=ANYTHING)
def test_stored_pause_may_be_anything_and_is_listed_and_checked(
    value: Any, schema: Any, answer: Any
) -> None:
    waiting = pending_in([Interrupt(value, "i1", response_schema=schema)])
    for one in waiting:
        with suppress(InvalidDecisionError):
            one.check(answer)
    assert value in [one.value for one in waiting] or value.get("action_requests") == []
