"""What user interfaces and strategies give back."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.middleware import ConfirmationUIResult, InvalidDecisionError, ToolExecutionDecision
from interlock.middleware.approval.confirmation import wire_decision

CALL: Any = {"name": "send", "args": {"to": "a"}, "id": "c1", "type": "tool_call"}


@pytest.mark.parametrize("action", ["run", "Confirm", "", None])
def test_action_that_is_not_known_is_refused(action: Any) -> None:
    with pytest.raises(InvalidDecisionError, match="confirm, reject, modify, respond"):
        ConfirmationUIResult(action)


@pytest.mark.parametrize("action", ["modify", "respond"])
def test_action_needs_what_belongs_to_it(action: Any) -> None:
    with pytest.raises(InvalidDecisionError, match=action):
        ConfirmationUIResult(action)


def test_decision_comes_back_from_its_plain_form() -> None:
    decision = ToolExecutionDecision("send", True, "c1", "why", {"to": "b"})
    assert ToolExecutionDecision.from_dict(decision.to_dict()) == decision


@pytest.mark.parametrize(
    "data", [{}, {"tool_name": "send", "execute": 1}, {"tool_name": "a", "execute": True, "x": 1}]
)
def test_wrong_plain_form_is_refused(data: Any) -> None:
    with pytest.raises(InvalidDecisionError):
        ToolExecutionDecision.from_dict(data)


@pytest.mark.parametrize(
    ("decision", "kind"),
    [
        (ToolExecutionDecision("send", execute=True), "approve"),
        (ToolExecutionDecision("send", execute=True, final_tool_params={"to": "a"}), "approve"),
        (ToolExecutionDecision("send", execute=True, final_tool_params={}), "edit"),
        (ToolExecutionDecision("send", execute=False), "reject"),
        (ToolExecutionDecision("send", execute=False, response="x"), "respond"),
    ],
)
def test_each_decision_has_a_form_to_be_stored_in(decision: Any, kind: str) -> None:
    assert wire_decision(decision, CALL)["type"] == kind
