from __future__ import annotations

import json
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
