from __future__ import annotations

from enum import Enum
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from interlock.state.finish import finish_of


class FinishReason(Enum):
    MAX_TOKENS = 2


@pytest.mark.parametrize(
    ("told", "finish"),
    [
        # OpenAI: chat completions, then responses
        ({"finish_reason": "length"}, "length"),
        ({"finish_reason": "content_filter"}, "content_filter"),
        ({"finish_reason": "stop"}, None),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
            "length",
        ),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
            "content_filter",
        ),
        ({"status": "incomplete", "incomplete_details": None}, "length"),
        ({"status": "completed"}, None),
        # Anthropic
        ({"stop_reason": "max_tokens"}, "length"),
        ({"stop_reason": "model_context_window_exceeded"}, "length"),
        ({"stop_reason": "refusal"}, "content_filter"),
        ({"stop_reason": "end_turn"}, None),
        # Google Gemini
        ({"finish_reason": "MAX_TOKENS"}, "length"),
        ({"finish_reason": FinishReason.MAX_TOKENS}, "length"),
        ({"finish_reason": "FinishReason.SAFETY"}, "content_filter"),
        ({"finish_reason": "PROHIBITED_CONTENT"}, "content_filter"),
        ({"prompt_feedback": {"block_reason": "SAFETY"}}, "content_filter"),
        ({"prompt_feedback": {"block_reason": None}}, None),
        # Amazon Bedrock
        ({"stopReason": "max_tokens"}, "length"),
        ({"stopReason": "guardrail_intervened"}, "content_filter"),
        ({"stopReason": "content_filtered"}, "content_filter"),
        ({"stopReason": "tool_use"}, None),
        # others
        ({"done_reason": "length"}, "length"),
        ({"finish_reason": "model_length"}, "length"),
        ({"finish_reason": 3}, None),
        ({"finish_reason": None}, None),
        ({}, None),
    ],
)
def test_the_words_of_providers_become_two(told: dict[str, Any], finish: str | None) -> None:
    assert finish_of(AIMessage("x", response_metadata=told)) == finish
