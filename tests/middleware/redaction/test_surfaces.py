from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from interlock.middleware.redaction.keys import BINARY_KEYS, STRUCTURAL_KEYS
from interlock.middleware.redaction.surfaces import (
    change_json,
    change_message,
    change_value,
    keep_text,
)
from interlock.state.guardrail_errors import DetectorError


def hide(text: str) -> str:
    return text.replace("secret", "[X]").replace("4111111111111111", "[N]")


CALL = {"name": "send", "args": {"to": "secret"}, "id": "c1", "type": "tool_call"}


def test_every_text_of_a_message_is_changed() -> None:
    message = AIMessage(
        [
            {"type": "text", "text": "a secret"},
            {"type": "thinking", "thinking": "secret", "signature": "secret-sig"},
            {"type": "tool_use", "id": "c1", "name": "send", "input": {"to": "secret"}},
            "secret",
        ],
        tool_calls=[CALL],
        invalid_tool_calls=[{"name": "send", "args": '{"to": "secret', "id": "c2", "error": "cut"}],
        additional_kwargs={
            "reasoning_content": "secret",
            "tool_calls": [{"function": {"arguments": '{"to": "\\u0073ecret"}', "name": "send"}}],
        },
        id="m1",
        name="secret",
        response_metadata={"logprobs": ["se", "cret"], "model": "m"},
    )

    new = change_message(message, hide)

    assert "secret" not in repr(new).replace("secret-sig", "").replace("name='secret'", "")
    assert new.response_metadata == {"model": "m"}
    assert (new.id, new.name) == ("m1", "secret")
    assert "secret" in repr(message), "the message itself is not changed"


def test_message_without_anything_to_change_is_the_same_object() -> None:
    message = AIMessage(
        [{"type": "text", "text": "plain"}], tool_calls=[{**CALL, "args": {"n": 1}}]
    )

    assert change_message(message, hide) is message


def test_calls_and_speech_can_be_changed_alone() -> None:
    message = AIMessage("secret", tool_calls=[CALL])

    only_said = change_message(message, hide, keep_text)
    only_calls = change_message(message, None, hide)

    assert (only_said.content, only_said.tool_calls[0]["args"]) == ("[X]", {"to": "secret"})
    assert (only_calls.content, only_calls.tool_calls[0]["args"]) == ("secret", {"to": "[X]"})


def test_artifact_of_a_result_is_changed() -> None:
    message = ToolMessage("ok", artifact={"rows": ["secret", b"raw"]}, tool_call_id="c1")

    assert change_message(message, hide).artifact == {"rows": ["[X]", b"raw"]}


def test_pictures_and_structure_are_left() -> None:
    blocks: list[Any] = [
        {"type": "image", "base64": "secret", "mime_type": "secret"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,secret"}},
    ]

    assert change_message(HumanMessage(blocks), hide).content == blocks


@pytest.mark.parametrize(
    ("value", "new"),
    [
        ({"a": ["secret", ("secret", 3)]}, {"a": ["[X]", ("[X]", 3)]}),
        ({"secret": 1}, {"[X]": 1}),
        (4111111111111111, "[N]"),
        (12, 12),
        (True, True),
        (None, None),
    ],
)
def test_texts_inside_a_value_are_changed(value: Any, new: Any) -> None:
    assert change_value(value, hide) == new


def test_value_without_anything_to_change_is_the_same_object() -> None:
    value = {"a": [1, {"b": ("x", 2.5)}]}

    assert change_value(value, hide) is value


def test_value_that_is_nested_too_deeply_does_not_pass() -> None:
    value: Any = "secret"
    for _ in range(5_000):
        value = [value]

    with pytest.raises(DetectorError, match="deeper than 100"):
        change_value(value, hide)


def test_json_is_changed_however_it_is_escaped_and_broken_json_as_text() -> None:
    assert json.loads(change_json('{"a": "\\u0073ecret"}', hide)) == {"a": "[X]"}
    assert change_json('{"a": "secret', hide) == '{"a": "[X]'
    assert change_json('{"a":   1}', hide) == '{"a":   1}'


NAMES = sorted({*STRUCTURAL_KEYS, *BINARY_KEYS})


@pytest.mark.parametrize("key", NAMES)
def test_no_name_of_an_argument_hides_its_value(key: str) -> None:
    args: dict[str, Any] = {key: "my secret", "deep": [{key: "my secret"}]}
    shown = {key: "my [X]", "deep": [{key: "my [X]"}]}
    called = {"name": "send", "id": "c1"}
    message = AIMessage(
        [{"type": "tool_use", **called, "input": args}],
        tool_calls=[{**called, "args": args}],
        additional_kwargs={
            "tool_calls": [{"function": {"name": "send", "arguments": json.dumps(args)}}]
        },
    )
    new = change_message(message, hide)

    assert new.tool_calls[0]["args"] == shown
    assert new.content == [{"type": "tool_use", **called, "input": shown}]
    assert json.loads(new.additional_kwargs["tool_calls"][0]["function"]["arguments"]) == shown
    artifact = change_message(ToolMessage("ok", artifact=args, tool_call_id="c1"), hide).artifact
    assert artifact == shown


@pytest.mark.parametrize("text", ["data: a secret", "data:,secret", "data:a;base64, secret"])
def test_no_beginning_of_a_text_hides_the_rest(text: str) -> None:
    blocks: list[Any] = [text, {"type": "text", "text": text}, {"type": "x", "data": text}]
    new = change_message(HumanMessage(blocks, additional_kwargs={"said": text}), hide)
    assert "secret" not in repr(new)
    assert change_value([text], hide) == [text.replace("secret", "[X]")]


def test_the_error_of_an_invalid_call_is_changed() -> None:
    calls: Any = [{"name": "send", "args": "{", "id": "c", "error": "no secret", "type": "x"}]
    new = change_message(AIMessage("", invalid_tool_calls=calls), hide)
    assert new.invalid_tool_calls[0]["error"] == "no [X]"


def test_long_binary_data_is_not_searched() -> None:
    value = {"data": "secret" * 50, "base64": "secret" * 50}
    assert change_value(value, hide) is value
