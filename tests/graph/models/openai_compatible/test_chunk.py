from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, message_chunk_to_message
from langchain_core.messages.tool import invalid_tool_call, tool_call, tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.outputs.chat_generation import merge_chat_generation_chunks

from interlock.graph.models.openai_compatible.chunk import AnswerChunk, delta_chunk

CUT = '{"path": "a", "text": "begin'


def piece(args: str, name: str | None = None, ident: str | None = None) -> AnswerChunk:
    shown = tool_call_chunk(name=name, args=args, id=ident, index=0)
    return AnswerChunk(content="", tool_call_chunks=[shown])


def last(valid: bool) -> AnswerChunk:
    return AnswerChunk(
        content="",
        tool_call_chunks=[tool_call_chunk(id="c1", index=0)],
        tool_calls=[tool_call(name="write", args={"path": "a"}, id="c1")] if valid else [],
        invalid_tool_calls=[]
        if valid
        else [invalid_tool_call(name="write", args=CUT, id="c1", error="cut off")],
        chunk_position="last",
    )


PIECES = [piece("", "write", "c1"), piece(CUT[:10]), piece(CUT[10:])]


def one_by_one(chunks: list[AnswerChunk]) -> Any:
    whole: Any = chunks[0]
    for chunk in chunks[1:]:
        whole = whole + chunk
    return whole


def at_once(chunks: list[AnswerChunk]) -> Any:
    return chunks[0] + chunks[1:]


def after_a_plain_chunk(chunks: list[AnswerChunk]) -> Any:
    whole: Any = AIMessageChunk(content="")
    for chunk in chunks:
        whole = whole + chunk
    return whole


def before_a_plain_end(chunks: list[AnswerChunk]) -> Any:
    return one_by_one(chunks) + AIMessageChunk(content="", chunk_position="last")


def as_generations(chunks: list[AnswerChunk]) -> Any:
    merged = merge_chat_generation_chunks([ChatGenerationChunk(message=c) for c in chunks])
    assert merged is not None
    return merged.message


@pytest.mark.parametrize(
    "add_up", [one_by_one, at_once, after_a_plain_chunk, before_a_plain_end, as_generations]
)
def test_half_a_call_never_becomes_a_call(add_up: Callable[[list[AnswerChunk]], Any]) -> None:
    growing, whole = add_up(PIECES), add_up([*PIECES, last(valid=False)])

    assert growing.tool_calls == []
    assert growing.tool_call_chunks[0]["args"] == CUT
    assert whole.tool_calls == []
    assert [c["error"] for c in whole.invalid_tool_calls] == ["cut off"]


def test_call_is_there_once_the_last_piece_is() -> None:
    whole = one_by_one([*PIECES, last(valid=True)])

    assert whole.tool_calls == [
        {"name": "write", "args": {"path": "a"}, "id": "c1", "type": "tool_call"}
    ]
    assert whole.invalid_tool_calls == []


@pytest.mark.parametrize("valid", [True, False])
def test_sum_becomes_a_plain_message(valid: bool) -> None:
    whole = one_by_one([*PIECES, last(valid=valid)])
    message = message_chunk_to_message(whole)

    assert type(message) is AIMessage
    assert message.tool_calls == whole.tool_calls
    assert message.invalid_tool_calls == whole.invalid_tool_calls


def test_copy_through_the_plain_class_runs_nothing_cut() -> None:
    whole = one_by_one([*PIECES, last(valid=False)])
    copy = AIMessageChunk(**whole.model_dump(exclude={"type"}))

    assert copy.tool_calls == []


def test_content_blocks_show_reasoning_text_and_growing_calls() -> None:
    chunk = AnswerChunk(
        content="hi",
        additional_kwargs={"reasoning_content": "hm"},
        tool_call_chunks=[tool_call_chunk(name="f", args="{", id="c1", index=0)],
    )

    assert [block["type"] for block in chunk.content_blocks] == [
        "reasoning",
        "text",
        "tool_call_chunk",
    ]


def test_content_blocks_of_the_sum_hold_the_decided_calls() -> None:
    valid = one_by_one([*PIECES, last(valid=True)]).content_blocks
    invalid = one_by_one([*PIECES, last(valid=False)]).content_blocks

    assert valid == [{"type": "tool_call", "id": "c1", "name": "write", "args": {"path": "a"}}]
    assert [(b["type"], b["error"]) for b in invalid] == [("invalid_tool_call", "cut off")]


@pytest.mark.parametrize(
    ("content", "beside", "calls"),
    [
        ("hi", {}, []),
        ("", {"reasoning_content": "hm"}, []),
        ("", {}, [tool_call_chunk(name="write", args="{", id="c1", index=0)]),
        (["hi", {"type": "image", "url": "u"}], {"refusal": "no"}, []),
    ],
    ids=["text", "reasoning", "call", "blocks"],
)
def test_a_delta_is_the_chunk_that_validation_makes(
    content: Any, beside: dict[str, Any], calls: list[Any]
) -> None:
    delta = delta_chunk(content, beside, calls)
    valid = AnswerChunk(content=content, additional_kwargs=beside, tool_call_chunks=calls)

    assert delta == valid
    assert list(delta.__dict__) == list(valid.__dict__)
    assert delta.model_fields_set == valid.model_fields_set
    assert delta.model_dump() == valid.model_dump()
    assert pickle.loads(pickle.dumps(delta)) == valid  # noqa: S301 - made here
    assert delta + delta == valid + valid


def test_deltas_share_nothing() -> None:
    one, other = delta_chunk("a"), delta_chunk("b")
    one.response_metadata["x"] = 1
    one.additional_kwargs["x"] = 1
    one.tool_call_chunks.append(tool_call_chunk())

    assert other == AnswerChunk(content="b")
