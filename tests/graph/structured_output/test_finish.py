from __future__ import annotations

from enum import Enum
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from interlock.graph.structured_output.finish import ending, reply_text


class FinishReason(Enum):
    MAX_TOKENS = 2


@pytest.mark.parametrize(
    "told",
    [
        {"finish_reason": "length"},
        {"stop_reason": "max_tokens"},
        {"finish_reason": "MAX_TOKENS"},
        {"finish_reason": FinishReason.MAX_TOKENS},
        {"finish_reason": "FinishReason.MAX_TOKENS"},
        {"stopReason": "max_tokens"},
        {"done_reason": "length"},
        {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
        {"status": "incomplete", "incomplete_details": None},
    ],
)
def test_reply_at_the_limit_is_cut_off(told: dict[str, Any]) -> None:
    assert ending(AIMessage("", response_metadata=told)) == "cut_off"


@pytest.mark.parametrize(
    "message",
    [
        AIMessage("", response_metadata={"stop_reason": "refusal"}),
        AIMessage("", response_metadata={"finish_reason": "content_filter"}),
        AIMessage("", response_metadata={"finish_reason": "SAFETY"}),
        AIMessage("", additional_kwargs={"refusal": "I cannot."}),
        AIMessage([{"type": "refusal", "refusal": "I cannot."}]),
    ],
)
def test_declined_reply_is_refused(message: AIMessage) -> None:
    assert ending(message) == "refused"


@pytest.mark.parametrize("told", [{}, {"finish_reason": "stop"}, {"stop_reason": "tool_use"}])
def test_other_reply_is_complete(told: dict[str, Any]) -> None:
    assert ending(AIMessage("", response_metadata=told)) == "complete"


def test_text_leaves_thinking_out() -> None:
    message = AIMessage(
        [
            {"type": "thinking", "thinking": "hm"},
            "a",
            {"type": "text", "text": "b"},
            {"content": "c"},
        ]
    )

    assert reply_text(message) == "abc"
