"""Short streams that broke a client, this one or another, each for its own reason."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest


def chunk(delta: Any, finish: Any = None, **fields: Any) -> str:
    return json.dumps({"choices": [{"delta": delta, "finish_reason": finish}], **fields})


def call(**fields: Any) -> str:
    return chunk({"tool_calls": [fields]})


def made(arguments: Any = "{}", **fields: Any) -> str:
    return call(index=0, id="c1", function={"name": "add", "arguments": arguments}, **fields)


STOP = chunk({}, "stop")

NASTY: dict[str, list[str]] = {
    "part whose type is a list": [chunk({"content": [{"type": []}]})],
    "part whose text is an object": [chunk({"content": ["a", {"type": "text", "text": {}}]})],
    "part that is null": [chunk({"content": [None]})],
    "part that looks like a call": [chunk({"content": [{"type": "tool_call", "args": 3}]})],
    "part without what its type needs": [chunk({"content": [{"type": "non_standard"}]})],
    "part of an older kind": [chunk({"content": [{"type": "image", "source_type": "url"}]})],
    "image without a source": [chunk({"content": [{"type": "image_url"}, {"type": "image"}]})],
    "extra that is not a number": [made(extra_content={"a": float("nan")})],
    "extra that looks serialized": [
        made(extra_content={"lc": 1, "type": "secret", "id": ["HOME"]})
    ],
    "half a surrogate pair in the text": [r'{"choices": [{"delta": {"content": "\ud83d"}}]}'],
    "half a surrogate pair in an id": [made().replace("c1", r"\udc00")],
    "half a surrogate pair in a key": [r'{"choices": [{"delta": {"\ud800": 1}}], "\udfff": 2}'],
    "nesting in the event": ["[" * 3000],
    "nesting in the arguments": [made("[" * 3000)],
    "arguments that are not a number": [made('{"a": NaN}')],
    "arguments beyond every number": [made('{"a": 1e999, "b": 1' + "0" * 400 + "}")],
    "arguments of half a character": [made('{"a": "\\ud83d"}')],
    "arguments decoded already": [made({"a": 1}), made([1]), made(3)],
    "index beyond every number": [call(index=10**30, id="c1", function={"name": "add"})],
    "index below zero": [call(index=-1, id="c1", function={"name": "add"})],
    "index in words": [call(index="first", id="c1", function={"name": "add"})],
    "one index for two calls": [made(), made().replace("c1", "c2")],
    "one id for two indexes": [made(), made().replace('"index": 0', '"index": 1')],
    "id of a megabyte": [made().replace("c1", "c" * 10**6)],
    "id with line breaks": [made().replace("c1", "c\\r\\n1")],
    "id that is an object": [made().replace('"c1"', "{}")],
    "name that is a list": [made().replace('"add"', '["add"]')],
    "calls that are one object": [chunk({"tool_calls": {"id": "c1"}})],
    "function that is text": [call(index=0, id="c1", function="add")],
    "delta that is text": [chunk("hi")],
    "choices within choices": [json.dumps({"choices": [[{"delta": {"content": "a"}}]]})],
    "choice that is null": [json.dumps({"choices": [None]})],
    "error that is true": [json.dumps({"error": True})],
    "error of lists": [json.dumps({"error": [[]], "choices": 1})],
    "error whose code is a list": [json.dumps({"error": {"code": [429], "message": {}}})],
    "finish reason that is an object": [chunk({"content": "a"}, {"reason": "stop"})],
    "finish reason that is a number": [chunk({"content": "a"}, 1)],
    "usage that is a list": [chunk({}, "stop", usage=[1])],
    "usage below zero": [chunk({}, "stop", usage={"prompt_tokens": -1, "total_tokens": "x"})],
    "usage beyond every number": [chunk({}, "stop", usage={"prompt_tokens": 1e308})],
    "usage of objects": [chunk({}, "stop", usage={"prompt_tokens_details": {"cached_tokens": {}}})],
    "log probabilities of text": ['{"choices": [{"delta": {}, "logprobs": "no"}]}'],
    "log probabilities of numbers": ['{"choices": [{"delta": {}, "logprobs": {"content": 1}}]}'],
    "model that is a number": [chunk({"content": "a"}, model=3, id=[], created=float("nan"))],
    "reasoning of lists": [chunk({"reasoning_details": [[], {"text": {}}], "thinking": []})],
    "refusal that is a list": [chunk({"refusal": ["no"]})],
    "extras that change their kind": [chunk({"audio": {"id": "a"}}), chunk({"audio": ["b"]})],
    "keys that come twice": [
        '{"choices": [], "choices": [{"delta": {}, "delta": {"content": 1}}]}'
    ],
    "end mark first": ["[DONE]", chunk({"content": "a"})],
    "end mark within a text": [chunk({"content": "[DONE]"}), "[DONE] "],
    "text that is null and false": [chunk({"content": None}), chunk({"content": False})],
    "null, true, 1 and text": ["null", "true", "1", '"text"'],
}
"""The data of each stream's events; a finish, and often an end mark, follows."""

NASTY_BYTES: dict[str, bytes] = {
    "nothing": b"",
    "line breaks only": b"\r\n\r\r\n\n\r",
    "bytes that are no characters": b'data: {"choices": [{"delta": {"content": "\xff\xc0"}}]}\n\n',
    "zero bytes": b'data: {"choices": [{"delta": {"content": "\x00"}}]}\n\n\x00',
    "marks of byte order": b"\xef\xbb\xbf\xef\xbb\xbfdata: {}\n\n\xef\xbb\xbfdata: {}\n\n",
    "error without words": b"event: error\ndata:\n\n",
    "error without data": b"event: error\n\n",
    "error that is no JSON": b"event: error\ndata: \xff{\n\n",
    "name of an event only": b"event: \xff\n\n",
    "half an event": b'data: {"choices": [{"delta": {"con',
    "JSON across data lines": b'data: {"choices":\ndata: [{"delta": {"content": "a"}}]}\n\n',
    "events without an end": b'data: {"choices": []}\ndata: {"choices": []}\ndata: {',
    "bare lines": b'{"choices": []}\n{"error"\n',
    "fields nobody knows": b"datum: 1\nid\nretry: x\n:::\n: \xff\n\n",
}
"""Whole streams that are wrong below JSON."""

Answered = Callable[..., Any]  # a fixture of conftest.py


def as_stream(data: list[str], *, done: bool) -> bytes:
    events = [*data, STOP, *(["[DONE]"] if done else [])]
    return "".join(f"data: {line}\n\n" for line in events).encode("utf-8", "surrogatepass")


@pytest.mark.parametrize("data", NASTY.values(), ids=NASTY.keys())
def test_a_nasty_stream_gives_a_message_or_an_error_of_the_family(
    answered: Answered, data: list[str]
) -> None:
    for done in (True, False):
        raw = as_stream(data, done=done)
        ways = ([raw], [raw[i : i + 1000] for i in range(0, len(raw), 1000)])
        one, other = [answered(blocks) for blocks in ways]
        assert type(one) is type(other)


@pytest.mark.parametrize("data", NASTY.values(), ids=NASTY.keys())
def test_a_nasty_answer_that_is_not_streamed_is_no_worse(
    answered: Answered, data: list[str]
) -> None:
    for raw in data:
        body = raw.replace('"delta"', '"message"').encode("utf-8", "surrogatepass")
        answered([body], whole=True, content_type="application/json")


@pytest.mark.parametrize("raw", NASTY_BYTES.values(), ids=NASTY_BYTES.keys())
def test_nasty_bytes_give_a_message_or_an_error_of_the_family(
    answered: Answered, raw: bytes
) -> None:
    for blocks in (
        [raw],
        [raw[i : i + 1] for i in range(len(raw))],
        [raw, as_stream([], done=True)],
    ):
        answered(blocks)
        answered(blocks, whole=True)
