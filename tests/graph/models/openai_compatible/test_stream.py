"""Streams of events put together, without a network."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.graph.models.openai_compatible.chunk import AnswerChunk
from interlock.graph.models.openai_compatible.origin import Origin
from interlock.graph.models.openai_compatible.sse import EventReader
from interlock.graph.models.openai_compatible.stream import StreamAssembler
from interlock.state.errors import ChatModelError
from interlock.state.model_errors import (
    ChatModelIncompleteError,
    ChatModelMalformedError,
    ChatModelRateLimitError,
)

ORIGIN = Origin("openai_compatible", 200, httpx.Headers())


def event(delta: Any, finish: Any = None, **fields: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return line({"id": "chatcmpl-1", "model": "m", "choices": [choice], **fields})


def line(payload: Any) -> bytes:
    return b"data: " + json.dumps(payload, ensure_ascii=False).encode() + b"\n\n"


def part(arguments: str, ident: str | None = None, name: str | None = None) -> dict[str, Any]:
    return {
        "tool_calls": [
            {"index": 0, "id": ident, "function": {"name": name, "arguments": arguments}}
        ]
    }


def pieces(blocks: Sequence[bytes]) -> list[AnswerChunk]:
    reader = EventReader(max_event_bytes=10**6, max_total_bytes=10**6)
    assembler = StreamAssembler(ORIGIN)
    found: list[AnswerChunk | None] = []
    for block in blocks:
        found += [assembler.add(e) for e in reader.feed(block) if not assembler.done]
    if not assembler.done:
        found += [assembler.add(e, closing=True) for e in reader.close()]
    return [chunk for chunk in found if chunk is not None] + [assembler.finish()]


def gather(*blocks: bytes) -> AnswerChunk:
    first, *rest = pieces(blocks)
    whole = first + rest
    assert isinstance(whole, AnswerChunk)
    return whole


STREAM = b"".join(
    [
        line({"choices": [], "prompt_filter_results": [1]}),
        event({"role": "assistant", "content": ""}),
        b": ping\n\n",
        event({"reasoning_content": "hm"}),
        event({"content": "grüße 🌍"}),
        event(part("", "c1", "add")),
        event(part('{"a"')),
        event(part(": 1}")),
        event({}, "tool_calls", service_tier="flex"),
        line({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}),
        b"data: [DONE]\n\n",
    ]
)


def test_text_reasoning_calls_usage_and_metadata_come_together() -> None:
    whole = gather(STREAM)

    assert whole.content == "grüße 🌍"
    assert whole.additional_kwargs == {"reasoning_content": "hm"}
    assert [(c["name"], c["args"], c["id"]) for c in whole.tool_calls] == [("add", {"a": 1}, "c1")]
    assert whole.usage_metadata == {"input_tokens": 7, "output_tokens": 2, "total_tokens": 9}
    assert whole.response_metadata == {
        "id": "chatcmpl-1",
        "model_name": "m",
        "model_provider": "openai_compatible",
        "finish_reason": "tool_calls",
        "service_tier": "flex",
        "prompt_filter_results": [1],
        "token_usage": {"prompt_tokens": 7, "completion_tokens": 2},
    }


@given(st.lists(st.integers(0, len(STREAM)), max_size=30))
def test_message_is_the_same_wherever_the_stream_is_cut(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(STREAM)]

    assert gather(*[STREAM[a:b] for a, b in pairwise(edges)]) == gather(STREAM)


def test_crlf_changes_nothing() -> None:
    assert gather(STREAM.replace(b"\n", b"\r\n")) == gather(STREAM)


def test_end_mark_may_be_missing_after_the_finish() -> None:
    assert gather(event({"content": "hi"}, "stop")).content == "hi"


def test_last_event_may_lack_its_blank_line() -> None:
    assert gather(event({"content": "hi"}), event({}, "stop").strip()).content == "hi"


def test_end_mark_alone_completes_a_text_but_no_call() -> None:
    done = b"data: [DONE]\n\n"
    call = gather(event(part("{}", "c1", "add")), done)

    assert gather(event({"content": "hi"}), done).content == "hi"
    assert call.tool_calls == []
    assert "without saying" in str(call.invalid_tool_calls[0]["error"])


@pytest.mark.parametrize("last", [b"", b'data: {"choices": [{"del'], ids=["between", "inside"])
def test_stream_that_ends_early_is_an_error(last: bytes) -> None:
    with pytest.raises(ChatModelIncompleteError, match="incomplete"):
        pieces([event({"content": "par"}), last])


@pytest.mark.parametrize(
    "blocks",
    [[], [b": ping\n\n"], [b"data: [DONE]\n\n"], [line({"choices": []})]],
    ids=["nothing", "comment", "end mark", "no choice"],
)
def test_stream_without_an_answer_is_an_error(blocks: list[bytes]) -> None:
    with pytest.raises(ChatModelMalformedError, match="answer is empty"):
        pieces(blocks)


def test_stream_that_only_finishes_is_an_empty_answer() -> None:
    assert gather(event({}, "stop")).content == ""


@pytest.mark.parametrize(
    "raw",
    [
        line({"error": {"message": "quota gone", "code": 429}}),
        b'event: error\ndata: {"message": "quota gone", "code": 429}\n\n',
        b'{"error": {"message": "quota gone", "code": 429}}\n',
    ],
    ids=["event", "named event", "bare line"],
)
def test_error_in_the_stream_is_raised(raw: bytes) -> None:
    with pytest.raises(ChatModelRateLimitError, match="quota gone"):
        pieces([event({"content": "par"}), raw])


def test_error_event_of_plain_text_is_raised() -> None:
    with pytest.raises(ChatModelError, match="out of memory"):
        pieces([b"event: error\ndata: out of memory\n\n"])


@pytest.mark.parametrize(
    "raw",
    [
        b"data: oops\n\n",
        b"data: [1]\n\n",
        b"data: " + b"[" * 9999 + b"\n\n",
        line({"choices": 3}),
        line({"choices": [{"delta": 3}]}),
    ],
)
def test_event_that_is_no_chunk_is_an_error(raw: bytes) -> None:
    with pytest.raises(ChatModelMalformedError):
        pieces([raw])


def test_data_lines_without_blank_lines_are_events_of_their_own() -> None:
    lines = [event({"content": "he"}), event({"content": "llo"}), event({}, "stop")]

    assert gather(*[raw.strip() + b"\n" for raw in lines]).content == "hello"


def test_calls_cut_off_by_length_are_invalid() -> None:
    whole = gather(event(part('{"a": 1}', "c1", "add")), event({}, "length"))

    assert whole.tool_calls == []
    assert [(c["id"], c["args"]) for c in whole.invalid_tool_calls] == [("c1", '{"a": 1}')]


def test_what_was_cut_off_stays_cut_off() -> None:
    whole = gather(event(part("{}", "c1", "add")), event({}, "length"), event({}, "stop"))

    assert whole.tool_calls == []
    assert whole.response_metadata["finish_reason"] == "length"


def test_logprobs_and_extras_are_gathered() -> None:
    def one(token: str) -> bytes:
        choice = {
            "delta": {"content": token, "reasoning_details": [token]},
            "logprobs": {"content": [{"token": token}]},
        }
        return line({"choices": [choice]})

    whole = gather(one("a"), one("b"), event({}, "stop"))

    assert whole.response_metadata["logprobs"] == {"content": [{"token": "a"}, {"token": "b"}]}
    assert whole.additional_kwargs == {"reasoning_details": ["a", "b"]}


def test_other_choices_are_left_out() -> None:
    other = line({"choices": [{"index": 1, "delta": {"content": "no"}}]})

    assert gather(event({"content": "yes"}), other, event({}, "stop")).content == "yes"


def test_usage_in_every_chunk_counts_once() -> None:
    usage = {"prompt_tokens": 7, "completion_tokens": 1}
    whole = gather(
        event({"content": "a"}, usage=usage),
        event({}, "stop", usage={**usage, "completion_tokens": 2}),
    )

    assert whole.usage_metadata == {"input_tokens": 7, "output_tokens": 2, "total_tokens": 9}


garbage = st.one_of(
    st.binary(max_size=40).map(lambda raw: b"data: " + raw + b"\n\n"),
    st.binary(max_size=40),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=4),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "choices",
                        "delta",
                        "content",
                        "tool_calls",
                        "function",
                        "arguments",
                        "name",
                        "id",
                        "index",
                        "finish_reason",
                        "usage",
                        "logprobs",
                        "error",
                    ]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    ).map(
        lambda value: (
            line({"choices": [{"delta": value}]}) if isinstance(value, dict) else line(value)
        )
    ),
    st.sampled_from(
        [
            event({"content": "a"}),
            event(part('{"a', "c1", "add")),
            event({}, "stop"),
            event({}, "length"),
            b"data: [DONE]\n\n",
            b"\r\n",
            b"event: error\n",
        ]
    ),
)


@given(st.lists(garbage, max_size=8))
def test_any_stream_gives_a_message_or_an_error_of_the_family(blocks: list[bytes]) -> None:
    with suppress(ChatModelError):
        assert gather(*blocks).chunk_position == "last"
