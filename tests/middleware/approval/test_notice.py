"""A note before the result of a call."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from langgraph.types import Command

from interlock.middleware.approval.notice import annotate, with_note


def message(content: Any, ident: str = "c1") -> ToolMessage:
    return ToolMessage(content, tool_call_id=ident)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("text", "note\n\nTool response:\ntext"),
        ("", "note"),
        (["text"], ["note\n\nTool response:", "text"]),
        ([], [{"type": "text", "text": "note"}]),
        (
            [{"type": "image", "url": "u"}],
            [{"type": "text", "text": "note\n\nTool response:"}, {"type": "image", "url": "u"}],
        ),
    ],
)
def test_note_has_the_form_of_the_content(content: Any, expected: Any) -> None:
    noted = with_note(message(content), "note")
    assert noted.content == expected
    assert with_note(noted, "note").content == expected


def test_only_the_answer_to_the_call_gets_the_note() -> None:
    command: Command[Any] = Command(update={"messages": [message("a"), message("b", "c2")], "x": 1})
    (noted,) = annotate([command], "note", "c1")
    first, second = noted.update["messages"]
    assert (first.content[:4], second.content, noted.update["x"]) == ("note", "b", 1)


@pytest.mark.parametrize("result", [message("a"), Command(update={"x": 1}), Command(goto="end")])
def test_without_a_note_or_a_message_nothing_changes(result: Any) -> None:
    assert annotate(result, None, "c1") is result
    assert annotate(Command(update={"x": 1}), "note", "c1").update == {"x": 1}
