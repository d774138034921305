"""Whole answers, from servers that keep to the protocol and from those that nearly do."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage

from interlock.graph.models.openai_compatible.answer import read_answer, read_body
from interlock.graph.models.openai_compatible.origin import Origin
from interlock.state.errors import ChatModelError
from interlock.state.model_errors import (
    ChatModelMalformedError,
    ChatModelRateLimitError,
    ChatModelServerError,
)

ORIGIN = Origin("openai_compatible", 200, httpx.Headers({"x-request-id": "req-1"}))
Net = Any  # the loopback network of conftest.py


def message(payload: object) -> AIMessage:
    found = read_answer(payload, ORIGIN)[0].message
    assert isinstance(found, AIMessage)
    return found


def call(arguments: Any, ident: Any = "c1", name: Any = "add") -> dict[str, Any]:
    return {"id": ident, "type": "function", "function": {"name": name, "arguments": arguments}}


def test_text_metadata_and_usage_are_read(net: Net) -> None:
    found = message({**net.completion("hello"), "service_tier": "flex", "system_fingerprint": None})

    assert found.content == "hello"
    assert found.usage_metadata == {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10}
    assert found.response_metadata == {
        "id": "chatcmpl-1",
        "created": 1_700_000_000,
        "model_name": "test-model",
        "model_provider": "openai_compatible",
        "request_id": "req-1",
        "finish_reason": "stop",
        "service_tier": "flex",
        "token_usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
    }


def test_provider_id_is_not_the_id_of_the_message(net: Net) -> None:
    # Some servers give every answer the same id, and a thread replaces messages by id.
    assert message(net.completion()).id is None


def test_bare_minimum_is_an_answer() -> None:
    assert message({"choices": [{"message": {"content": "hi"}}]}).content == "hi"


@pytest.mark.parametrize("reason", ["error", "eos", "sensitive", "guardrail_intervened"])
def test_any_finish_reason_is_passed_on(net: Net, reason: str) -> None:
    found = message(net.completion("partial", reason))

    assert (found.content, found.response_metadata["finish_reason"]) == ("partial", reason)


@pytest.mark.parametrize("reason", [{"reason": "length"}, 1, ["stop"], "half"], ids=str)
def test_a_finish_reason_nobody_knows_lets_no_call_run(net: Net, reason: Any) -> None:
    found = message(net.completion(None, reason, tool_calls=[call('{"a": 1}')]))

    assert found.tool_calls == []
    assert found.invalid_tool_calls[0]["id"] == "c1"


@pytest.mark.parametrize("arguments", ['{"a": 1}', {"a": 1}])
def test_call_is_read(net: Net, arguments: Any) -> None:
    found = message(net.completion(None, "tool_calls", tool_calls=[call(arguments)]))

    assert found.tool_calls == [{"name": "add", "args": {"a": 1}, "id": "c1", "type": "tool_call"}]
    assert "tool_calls" not in found.additional_kwargs


@pytest.mark.parametrize("reason", ["length", "content_filter", "MAX_TOKENS", "sensitive", "error"])
def test_call_of_an_answer_that_was_cut_is_invalid(net: Net, reason: str) -> None:
    found = message(net.completion(None, reason, tool_calls=[call('{"a": 1}')]))

    assert found.tool_calls == []
    assert found.invalid_tool_calls[0]["args"] == '{"a": 1}'
    assert "did not run" in str(found.invalid_tool_calls[0]["error"])


@pytest.mark.parametrize("reason", ["stop", "tool_calls", "eos", "tool-calls", None])
def test_call_of_a_whole_answer_is_valid(net: Net, reason: str | None) -> None:
    assert message(net.completion(None, reason, tool_calls=[call("{}")])).invalid_tool_calls == []


def test_older_function_call_is_a_call(net: Net) -> None:
    found = message(net.completion(None, function_call={"name": "add", "arguments": '{"a": 1}'}))

    assert [(c["name"], c["args"]) for c in found.tool_calls] == [("add", {"a": 1})]


@pytest.mark.parametrize(
    "said",
    [
        {"reasoning_content": "think"},
        {"reasoning": "think"},
        {"reasoning_text": "think"},
        {"reasoning_details": [{"type": "reasoning.text", "text": "think"}]},
        {
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": "think"}]},
                {"type": "text", "text": "42"},
            ]
        },
    ],
    ids=lambda said: next(iter(said)),
)
def test_reasoning_is_kept_apart_from_the_text(net: Net, said: dict[str, Any]) -> None:
    found = message(net.completion(**{"content": "42", **said}))

    assert found.text == "42"
    assert found.additional_kwargs["reasoning_content"] == "think"
    assert {"type": "reasoning", "reasoning": "think"} in found.content_blocks


def test_refusal_and_extras_are_kept(net: Net) -> None:
    found = message(
        net.completion(None, refusal="no", annotations=[{"x": 1}], audio=None, images=[])
    )

    assert found.content == ""
    assert found.additional_kwargs == {"refusal": "no", "annotations": [{"x": 1}]}


def test_content_parts_that_are_no_text_are_kept(net: Net) -> None:
    image = {"type": "image_url", "image_url": {"url": "https://host/x.png"}}

    assert message(net.completion([{"type": "text", "text": "see"}, image])).content == [
        "see",
        image,
    ]


def test_signature_of_a_call_is_kept(net: Net) -> None:
    signed = {**call("{}"), "extra_content": {"google": {"thought_signature": "s"}}}

    assert message(net.completion(None, tool_calls=[signed])).additional_kwargs[
        "tool_call_extras"
    ] == {"c1": {"google": {"thought_signature": "s"}}}


def test_every_choice_is_a_generation(net: Net) -> None:
    body = net.completion("a")
    body["choices"].append({"index": 1, "message": {"content": "b"}, "finish_reason": "stop"})

    assert [g.message.content for g in read_answer(body, ORIGIN)] == ["a", "b"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "an empty body"),
        (b"<html><title>Sign in</title></html>", "an HTML page titled 'Sign in'"),
        (b"upstream down", "'upstream down'"),
        (b"[1]", "no object"),
        (b"null", "no object"),
        (b"{}", "no choices"),
        (b'{"choices": null}', "no choices"),
        (b'{"choices": []}', "no choices"),
        (b'{"choices": {}}', "no choices"),
        (b'{"choices": [null]}', "without a message"),
        (b'{"choices": [{"message": null}]}', "without a message"),
        (b'{"choices": [{"message": {"content": 7}}]}', "neither text nor parts"),
        (b"[" * 100_000, "no valid JSON"),
        (b'"\\u0041' + b"[" * 100_000, "no valid JSON"),
        (b"\xff\xfe", "no valid JSON"),
    ],
)
def test_anything_else_is_an_error_that_says_what_came(body: bytes, words: str) -> None:
    with pytest.raises(ChatModelMalformedError, match=words) as caught:
        read_body(body, ORIGIN)

    assert (caught.value.status, caught.value.request_id) == (200, "req-1")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"message": "full", "code": 502}, ChatModelServerError),
        ({"message": "full", "code": "rate_limit_exceeded"}, ChatModelRateLimitError),
        ("full", ChatModelServerError),
        ({"metadata": {"raw": "full"}}, ChatModelServerError),
    ],
    ids=["status", "word", "text", "unknown"],
)
def test_error_inside_a_successful_answer_is_raised(error: Any, kind: type[ChatModelError]) -> None:
    with pytest.raises(kind, match="full"):
        read_answer({"error": error}, ORIGIN)


def test_half_a_surrogate_pair_becomes_a_replacement() -> None:
    body = b'{"choices": [{"message": {"content": "a\\ud83d \\ud83d\\ude00"}}]}'

    assert read_body(body, ORIGIN)[0].message.content == "a\ufffd 😀"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "choices",
                    "message",
                    "content",
                    "tool_calls",
                    "function",
                    "name",
                    "arguments",
                    "id",
                    "error",
                    "usage",
                    "finish_reason",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(json_values)
def test_any_json_gives_an_answer_or_an_error_of_the_family(payload: object) -> None:
    for body in (payload, {"choices": [payload]}, {"choices": [{"message": payload}]}):
        with suppress(ChatModelError):
            assert read_answer(body, ORIGIN)
