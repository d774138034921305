"""What the model reads of a decision."""

from __future__ import annotations

from typing import Any

from interlock.middleware.approval.wording import NoticeWording, TemplateWording, fill

CALL: Any = {"name": "send", "args": {}, "id": "c1", "type": "tool_call"}
ACTION: Any = {"name": "send", "args": {"to": "b"}}


def test_other_braces_of_a_template_stay() -> None:
    assert fill('{"tool": "{tool_name}", "x": {}}', tool_name="send") == '{"tool": "send", "x": {}}'


def test_value_that_looks_like_a_placeholder_is_not_filled_again() -> None:
    assert fill("{a} {b}", a="{b}", b="x") == "{b} x"


def test_templates_say_what_was_rejected_and_why() -> None:
    words = TemplateWording(
        reject_template="No {tool_name}.", user_feedback_template="({feedback})"
    )
    assert words.rejected(CALL, None) == "No send."
    assert words.rejected(CALL, "too late") == "No send. (too late)"


def test_templates_say_what_was_changed() -> None:
    words = TemplateWording(modify_template="{tool_name}: {final_tool_params}")
    assert words.edited(ACTION, None) == "send: {'to': 'b'}"


def test_templates_pass_on_a_note_with_an_approval_and_nothing_else() -> None:
    assert TemplateWording().approved(None) is None
    assert "hurry" in (TemplateWording().approved("hurry") or "")


def test_notice_says_what_ran_unless_it_is_switched_off() -> None:
    assert '{"to": "b"}' in (NoticeWording().edited(ACTION, None) or "")
    assert NoticeWording(None).edited(ACTION, None) is None
    assert NoticeWording(None).edited(ACTION, "why") == "Note of the reviewer: why"
