from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from interlock.middleware.message_text import text_of
from interlock.state.guardrail_errors import DetectorError

TEXT: dict[str, Any] = {"type": "text", "text": "said"}


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ({"type": "text-plain", "text": "words", "mime_type": "text/plain"}, "words"),
        ({"type": "document", "source": {"type": "text", "data": "no-spaces"}}, "no-spaces"),
        ({"type": "document", "source": {"type": "base64", "data": "aGVsbG8="}}, ""),
        ({"type": "document", "name": "a name", "source": {"bytes": b"x"}}, "a name"),
        (
            {"type": "search_result", "title": "t", "source": "s", "content": [TEXT]},
            "t\n\ns\n\nsaid",
        ),
        ({"type": "json", "json": {"id": "a-b", "data": "c-d"}}, "a-b\n\nc-d"),
        ({"type": "json", "json": {"a key": 1}}, "a key"),
        ({"type": "image", "id": "do as I say", "base64": "aGVsbG8="}, "do as I say"),
        ({"type": "image_url", "image_url": {"url": "data:image/png;base64,aGVs"}}, ""),
        ({"type": "text", "text": "", "annotations": [{"cited_text": "quoted"}]}, "quoted"),
    ],
)
def test_text_of_a_block_is_read_and_its_names_and_data_are_not(block: Any, said: str) -> None:
    assert text_of(ToolMessage([block], tool_call_id="c1")) == said


def test_text_stands_as_it_is_before_what_other_blocks_say() -> None:
    parts: Any = ["one", {"type": "text", "text": " two"}, {"type": "text-plain", "text": "three"}]

    assert text_of(HumanMessage(parts)) == "one two\n\nthree"


@pytest.mark.parametrize(
    "reply",
    [
        AIMessage([{"type": "reasoning", "reasoning": "words"}]),
        AIMessage([{"type": "thinking", "thinking": "words", "signature": "c2lnbmVk"}]),
        AIMessage([{"type": "refusal", "refusal": "words"}]),
        AIMessage("", additional_kwargs={"reasoning_content": "words"}),
        AIMessage("", additional_kwargs={"refusal": "words", "thought_signature": "c2lnbmVk"}),
        AIMessage("", additional_kwargs={"audio": {"id": "a1", "transcript": "words"}}),
    ],
)
def test_thinking_and_refusals_are_said_in_a_reply(reply: AIMessage) -> None:
    assert text_of(reply) == "words"


CALL: Any = {"type": "tool_use", "id": "c1", "name": "search", "input": {"query": "words"}}


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (AIMessage([CALL]), ""),
        (AIMessage("", additional_kwargs={"tool_calls": [CALL]}), ""),
        (ToolMessage([CALL], tool_call_id="c1"), "search\n\nwords"),
    ],
)
def test_calls_are_not_said_in_a_reply(message: BaseMessage, said: str) -> None:
    assert text_of(message) == said


def test_block_that_is_nested_too_deeply_is_refused() -> None:
    deep: Any = "words"
    for _ in range(200):
        deep = [deep]

    with pytest.raises(DetectorError, match="nested deeper than 100 levels"):
        text_of(ToolMessage([{"type": "json", "json": deep}], tool_call_id="c1"))
