"""Calls rewritten wherever a message holds them."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage

from interlock.middleware.approval.transcript import rewrite_calls

EDITS: Any = {"c1": {"name": "send", "args": {"to": "b"}}}


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (
            {"type": "tool_use", "id": "c1", "name": "send", "input": {"to": "a"}},
            {"type": "tool_use", "id": "c1", "name": "send", "input": {"to": "b"}},
        ),
        (
            {
                "type": "function_call",
                "id": "f",
                "call_id": "c1",
                "name": "send",
                "arguments": "{}",
            },
            {
                "type": "function_call",
                "id": "f",
                "call_id": "c1",
                "name": "send",
                "arguments": '{"to": "b"}',
            },
        ),
        ({"type": "text", "text": "c1"}, {"type": "text", "text": "c1"}),
        (
            {"type": "tool_use", "id": "c2", "name": "send", "input": {"to": "a"}},
            {"type": "tool_use", "id": "c2", "name": "send", "input": {"to": "a"}},
        ),
    ],
)
def test_each_notation_of_a_call_is_rewritten(block: Any, expected: Any) -> None:
    calls: Any = [
        {"name": "send", "args": {"to": "a"}, "id": i, "type": "tool_call"} for i in ("c1", "c2")
    ]
    extra = {"tool_calls": [{"id": "c1"}], "kept": 1}
    reply = AIMessage([block], id="m", tool_calls=calls, additional_kwargs=extra)
    changed = rewrite_calls(reply, EDITS)

    assert changed.content == [expected]
    assert [c["args"] for c in changed.tool_calls] == [{"to": "b"}, {"to": "a"}]
    assert (changed.id, changed.additional_kwargs) == ("m", {"kept": 1})
    assert reply.tool_calls[0]["args"] == {"to": "a"}
