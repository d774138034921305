"""Streams by a grammar of mistakes: a message that can go on, or an error of the family."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, cast

import httpx
from hypothesis import given
from hypothesis import strategies as st

Answered = Callable[..., Any]  # a fixture of conftest.py
Place = tuple[Any, ...]
Values = st.SearchStrategy[Any]  # JSON

WORDS = [
    *("", "a", "{", '{"a": 1}', '{"a', "null", "stop", "length", "tool_calls", "c1", "add"),
    *(
        "text",
        "thinking",
        "image_url",
        "tool_call",
        "429",
        "\ud83d",
        "\x00",
        "\r\n",
        "🌍",
        "[DONE]",
    ),
]
KEYS = [
    *("choices", "delta", "message", "content", "tool_calls", "function", "arguments", "name"),
    *("id", "index", "finish_reason", "usage", "logprobs", "error", "code", "type", "text"),
    *("refusal", "reasoning_content", "reasoning_details", "thinking", "extra_content", "role"),
    *("prompt_tokens", "prompt_tokens_details", "model", "audio", "lc"),
]
NUMBERS = [0, 1, -1, 2**63, 10**30, 1.5, 1e308, float("nan"), float("inf"), True, False]


def as_list(value: Any) -> list[Any]:
    return [value]


junk: Values = st.recursive(
    st.none() | st.sampled_from(NUMBERS) | st.sampled_from(WORDS),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3)
    ),
    max_leaves=6,
)
calls: Values = st.fixed_dictionaries(
    {
        "index": st.sampled_from([0, 0, 1, None]),
        "id": st.sampled_from(["c1", "c2", None]),
        "function": st.fixed_dictionaries(
            {
                "name": st.sampled_from(["add", "sub", None]),
                "arguments": st.sampled_from(["", '{"a": 1}', '{"a"', ": 1}", "}"]),
            }
        ),
    }
)
part = {"type": "text", "text": "x"}
thought = {"type": "thinking", "thinking": [{"type": "text", "text": "y"}]}
deltas: Values = st.one_of(
    st.sampled_from(
        [
            {"content": "grüße 🌍"},
            {"content": [part, thought, {"type": "image_url", "image_url": {"url": "u"}}]},
            {"reasoning_content": "hm"},
            {"reasoning_details": [{"text": "hm"}]},
            {"refusal": "no"},
            {"audio": {"id": "a", "transcript": "b"}},
            {"function_call": {"name": "add", "arguments": "{}"}},
        ]
    ),
    st.fixed_dictionaries({"tool_calls": st.lists(calls, min_size=1, max_size=2)}),
)
choices: Values = st.fixed_dictionaries(
    {
        "index": st.just(0),
        "delta": deltas,
        "finish_reason": st.sampled_from([None, None, "stop", "tool_calls", "length"]),
    }
)
payloads: Values = st.one_of(
    st.fixed_dictionaries(
        {
            "id": st.just("x"),
            "model": st.just("m"),
            "choices": choices.map(as_list),
            "usage": st.just({"prompt_tokens": 7, "prompt_tokens_details": {"cached_tokens": 1}}),
        }
    ),
    st.sampled_from([{"choices": []}, {"error": {"message": "busy", "code": "429"}}]),
)
frames = st.sampled_from(
    [
        *["data: %s\n\n"] * 5,
        *[
            "data:%s\r\n\r\n",
            "data: %s\n",
            "%s\n",
            "event: error\ndata: %s\n\n",
            ": ping\ndata: %s\r\r",
        ],
    ]
)


def places(value: Any, at: Place = ()) -> Iterator[Place]:
    """Give the path to every value inside another."""
    alike: Any = list[int](range(len(value)))
    for key in cast("dict[str, Any]", value) if isinstance(value, dict) else alike:
        yield (*at, key)
        if isinstance(value[key], (dict, list)):
            yield from places(value[key], (*at, key))


@st.composite
def events(draw: st.DrawFn) -> bytes:
    payload: Any = copy.deepcopy(draw(payloads))
    for _ in range(draw(st.integers(0, 2))):
        *way, key = draw(st.sampled_from(list(places(payload))))
        around: Any = payload
        for step in way:
            around = around[step]
        around[key] = draw(junk)
    text = json.dumps(payload, ensure_ascii=draw(st.booleans()))
    return (draw(frames) % text).encode("utf-8", "surrogatepass")


@st.composite
def streams(draw: st.DrawFn) -> list[bytes]:
    raw = b"".join(draw(st.lists(events(), max_size=4)))
    raw += draw(st.sampled_from([b"", b'data: {"choices": [{"finish_reason": "stop"}]}\n\n']))
    raw += draw(st.sampled_from([b"", b"data: [DONE]\n\n"]))
    if draw(st.integers(0, 4)) == 0:
        at = draw(st.integers(0, len(raw)))
        raw = raw[:at] + draw(st.binary(max_size=4)) + raw[at + draw(st.integers(0, 5)) :]
    edges = [0, *sorted(draw(st.lists(st.integers(0, len(raw)), max_size=3))), len(raw)]
    return [raw[start:end] for start, end in pairwise(edges)]


answers = st.fixed_dictionaries(
    {
        "blocks": streams(),
        "whole": st.booleans(),
        "content_type": st.sampled_from(
            [*["text/event-stream"] * 5, "application/json", "text/html", ""]
        ),
        "status": st.sampled_from([*[200] * 9, 401, 429, 500]),
        "broken": st.sampled_from(
            [
                *[None] * 6,
                httpx.ReadError("gone"),
                httpx.ReadTimeout("late"),
                httpx.DecodingError("no gzip"),
                httpx.StreamClosed(),
            ]
        ),
    }
)


@given(answer=answers)
def test_any_answer_gives_a_message_that_can_go_on_or_an_error_of_the_family(
    answered: Answered, answer: dict[str, Any]
) -> None:
    assert answered(**answer) is not None
