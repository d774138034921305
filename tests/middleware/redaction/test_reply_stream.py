from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from functools import reduce
from itertools import pairwise
from operator import add
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk

from interlock.middleware.redaction import RedactionRule, Redactor

EMAIL = Redactor([RedactionRule("email").resolve()], lookback=32)


def chunk(content: Any = "", **fields: Any) -> AIMessageChunk:
    return AIMessageChunk(content=content, **fields)


def streamed(redactor: Redactor, chunks: Sequence[AIMessageChunk]) -> list[AIMessageChunk]:
    stream = redactor.pieces()
    fed = [out for c in chunks for out in stream.feed(ChatGenerationChunk(message=c))]
    return [cast("AIMessageChunk", c.message) for c in [*fed, *stream.flush()]]


def whole(chunks: Sequence[AIMessageChunk]) -> AIMessageChunk:
    return cast("AIMessageChunk", reduce(add, cast("Any", chunks)))


def pieces(text: str, cuts: Sequence[int]) -> list[str]:
    ends = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    return [text[a:b] for a, b in pairwise(ends)]


TEXT = "Ask kim@example.com, or in turn lee.long@mail.example.org about the rest of it all. "


@given(st.lists(st.integers(0, 400), max_size=30))
def test_text_is_redacted_wherever_it_is_cut(cuts: list[int]) -> None:
    out = streamed(EMAIL, [chunk(p) for p in pieces(TEXT * 3, cuts)])

    assert all("@" not in c.text for c in out)
    assert whole(out).content == EMAIL.redact(TEXT * 3)


@given(st.lists(st.integers(0, 400), max_size=30))
def test_blocks_are_redacted_wherever_they_are_cut(cuts: list[int]) -> None:
    chunks = [
        chunk([{"type": kind, key: p, "index": index}])
        for index, (kind, key) in enumerate([("thinking", "thinking"), ("text", "text")])
        for p in pieces(TEXT * 2, cuts)
    ]

    out = streamed(EMAIL, chunks)

    assert "@" not in repr(out)
    assert whole(out).content == [
        {"type": "thinking", "thinking": EMAIL.redact(TEXT * 2), "index": 0},
        {"type": "text", "text": EMAIL.redact(TEXT * 2), "index": 1},
    ]


@given(st.lists(st.integers(0, 400), max_size=30), st.booleans())
def test_arguments_come_whole_and_redacted(cuts: list[int], last: bool) -> None:
    args = json.dumps({"to": "kim@example.com", "text": TEXT}).replace("@", "\\u0040")
    call = {"name": "send", "id": "c1", "index": 0, "type": "tool_call_chunk"}
    chunks = [chunk("", tool_call_chunks=[{**call, "args": ""}])]
    chunks += [
        chunk("", tool_call_chunks=[{**call, "name": None, "id": None, "args": p}])
        for p in pieces(args, cuts)
    ]
    chunks += [chunk("", chunk_position="last")] if last else []

    message = whole(streamed(EMAIL, chunks))

    assert message.tool_calls[0]["args"] == {
        "to": "[REDACTED_EMAIL]",
        "text": EMAIL.redact(TEXT),
    }
    assert (message.tool_calls[0]["name"], message.tool_calls[0]["id"]) == ("send", "c1")


def test_arguments_in_content_blocks_come_whole_and_redacted() -> None:
    chunks = [
        chunk([{"type": "tool_use", "id": "c1", "name": "send", "input": {}, "index": 1}]),
        chunk([{"type": "input_json_delta", "partial_json": '{"to": "kim@', "index": 1}]),
        chunk([{"type": "input_json_delta", "partial_json": 'x.org"}', "index": 1}]),
    ]

    out = streamed(EMAIL, chunks)

    assert "kim" not in repr(out)
    assert '{"to": "[REDACTED_EMAIL]"}' in repr(whole(out).content)


def test_call_without_an_index_is_redacted_at_once() -> None:
    call: Any = {"name": "send", "args": '{"to": "kim@x.org"}', "id": "c1", "index": None}
    (out,) = streamed(EMAIL, [chunk("", tool_call_chunks=[call])])

    assert out.tool_calls[0]["args"] == {"to": "[REDACTED_EMAIL]"}


def test_what_spells_the_text_out_is_gone_and_the_rest_stays() -> None:
    usage: Any = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
    only = chunk(
        "hi",
        id="run-1",
        usage_metadata=usage,
        response_metadata={"logprobs": ["kim"], "model": "m"},
        additional_kwargs={"reasoning_content": "kim@x.org", "tool_calls": [{"kim": 1}]},
    )

    message = whole(streamed(EMAIL, [only]))

    assert "kim" not in repr(message)
    assert message.usage_metadata == usage
    assert message.response_metadata == {"model": "m"}
    assert message.additional_kwargs == {"reasoning_content": "[REDACTED_EMAIL]"}


def test_only_calls_are_touched_where_only_they_are_covered(
    redactor: Callable[..., Redactor],
) -> None:
    call: Any = {"name": "send", "args": '{"to": "kim@x.org"}', "id": "c1", "index": 0}
    chunks = [chunk("to kim@x.org"), chunk("", tool_call_chunks=[call])]

    message = whole(streamed(redactor(text=False), chunks))

    assert message.content == "to kim@x.org"
    assert message.tool_calls[0]["args"] == {"to": "[REDACTED_EMAIL]"}


@given(st.lists(st.integers(0, 400), max_size=30))
def test_text_in_additional_fields_is_redacted_wherever_it_is_cut(cuts: list[int]) -> None:
    chunks = [
        chunk(
            additional_kwargs={
                "audio": {"id": "a1", "transcript": p},
                "reasoning_details": [{"type": "reasoning.text", "text": p, "index": 0}],
            }
        )
        for p in pieces(TEXT * 2, cuts)
    ]

    out = streamed(EMAIL, chunks)

    said = EMAIL.redact(TEXT * 2)
    assert whole(out).additional_kwargs == {
        "audio": {"id": "a1", "transcript": said},
        "reasoning_details": [{"type": "reasoning.text", "text": said, "index": 0}],
    }


@given(st.lists(st.integers(0, 400), max_size=30))
def test_unknown_blocks_are_redacted_wherever_they_are_cut(cuts: list[int]) -> None:
    chunks = [
        chunk([{"type": "x_note", "body": p, "deep": {"er": p}, "n": [1], "index": 0}])
        for p in pieces(TEXT * 2, cuts)
    ]

    (block,) = cast("list[Any]", whole(streamed(EMAIL, chunks)).content)

    said = EMAIL.redact(TEXT * 2)
    assert (block["body"], block["deep"], block["index"]) == (said, {"er": said}, 0)


def test_entries_without_an_index_stay_what_they_are() -> None:
    notes = [{"type": "citation", "title": t, "said": f"{t}@x.org"} for t in ("kim", "lee")]
    uses = [{"type": "tool_use", "name": "send", "input": {"to": f"{t}@x.org"}} for t in "ab"]

    message = whole(
        streamed(EMAIL, [chunk([{"type": "text", "text": "x", "notes": notes}, *uses])])
    )

    text, *calls = cast("list[Any]", message.content)[:3]
    assert text["notes"] == [{**note, "said": "[REDACTED_EMAIL]"} for note in notes]
    assert calls == [{**use, "input": {"to": "[REDACTED_EMAIL]"}} for use in uses]


@given(st.lists(st.integers(0, 400), max_size=30), st.lists(st.integers(0, 400), max_size=4))
def test_text_is_redacted_wherever_blocks_cut_it(cuts: list[int], borders: list[int]) -> None:
    chunks = [
        chunk([{"type": "text", "text": p, "index": index}])
        for index, part in enumerate(pieces(TEXT * 3, borders))
        for p in pieces(part, cuts)
    ]

    out = streamed(EMAIL, chunks)

    assert "@" not in whole(out).text
    assert "kim" not in whole(out).text


@given(st.data())
def test_blocks_whose_pieces_come_in_turns_are_redacted_each(data: st.DataObject) -> None:
    queues = [pieces(TEXT * 4, data.draw(st.lists(st.integers(0, 400)))) for _ in range(2)]
    chunks: list[AIMessageChunk] = []
    while any(queues):
        index = data.draw(st.sampled_from([n for n in range(2) if queues[n]]))
        chunks.append(chunk([{"type": "text", "text": queues[index].pop(0), "index": index}]))

    blocks = cast("list[Any]", whole(streamed(EMAIL, chunks)).content)

    # A part of an address may have been shown before its block went on, but never the whole.
    assert all(EMAIL.redact(block["text"]) == block["text"] for block in blocks)


def test_chunks_of_a_long_reply_cost_its_length() -> None:
    def seconds(size: int) -> float:
        chunks = [chunk([{"type": "text", "text": "word ", "index": n // 9}]) for n in range(size)]
        began = time.thread_time()
        streamed(EMAIL, chunks)
        return time.thread_time() - began

    assert any(seconds(4_000) < 9 * seconds(1_000) + 0.05 for _ in range(3))
