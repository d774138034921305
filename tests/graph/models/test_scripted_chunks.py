"""Replies cut into chunks: the sum is the reply."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    InvalidToolCall,
    ToolCall,
    message_chunk_to_message,
)

from interlock.graph.models.scripted_chunks import chunks_of

json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
calls = st.lists(
    st.fixed_dictionaries(
        {
            "name": st.text(min_size=1),
            "args": st.dictionaries(st.text(), json_values, max_size=4),
            "type": st.just("tool_call"),
        }
    ),
    max_size=3,
)
text_blocks: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {"type": st.just("text"), "text": st.text()}
)
image = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
contents: st.SearchStrategy[Any] = st.text() | st.lists(text_blocks | st.just(image), max_size=3)


def total(message: AIMessage) -> AIMessageChunk:
    return reduce(add, chunks_of(message))


@given(contents, calls)
def test_the_sum_of_the_chunks_is_the_message(content: Any, made: list[Any]) -> None:
    message = AIMessage(
        content,
        tool_calls=[{**call, "id": f"c{position}"} for position, call in enumerate(made)],
        id="m1",
        response_metadata={"finish_reason": "stop"},
        additional_kwargs={"note": 1},
        usage_metadata={"input_tokens": 3, "output_tokens": 2, "total_tokens": 5},
    )
    assert message_chunk_to_message(total(message)) == message


def test_text_comes_word_by_word_and_metadata_last() -> None:
    message = AIMessage("Two  words \n", response_metadata={"model_name": "m"})
    chunks = list(chunks_of(message))
    assert [chunk.content for chunk in chunks] == ["Two", "  words", " \n", ""]
    assert [chunk.response_metadata for chunk in chunks] == [{}, {}, {}, {"model_name": "m"}]
    assert chunks[-1].chunk_position == "last"


def test_calls_come_as_a_name_and_pieces_of_arguments() -> None:
    args = {"text": "a longer text, so that it is cut"}
    message = AIMessage("", tool_calls=[ToolCall(name="say", args=args, id="c1")])
    parts = [part for chunk in chunks_of(message) for part in chunk.tool_call_chunks]
    assert [part["name"] for part in parts] == ["say", None, None]
    assert {part["index"] for part in parts} == {0}


def test_an_invalid_call_stays_invalid() -> None:
    broken = InvalidToolCall(name="f", args="oops", id="c1", error=None, type="invalid_tool_call")
    whole = total(AIMessage("", invalid_tool_calls=[broken]))
    assert whole.tool_calls == []
    assert whole.invalid_tool_calls[0]["args"] == "oops"


def test_an_empty_reply_is_one_chunk() -> None:
    assert [chunk.content for chunk in chunks_of(AIMessage(""))] == [""]
