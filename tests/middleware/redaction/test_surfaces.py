from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

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
