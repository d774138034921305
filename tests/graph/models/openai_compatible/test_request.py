from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.messages.tool import invalid_tool_call, tool_call

from interlock.graph.models.openai_compatible.request import (
    encode_body,
    merged_settings,
    wire_messages,
)
from interlock.state.errors import InvalidInputError
from interlock.state.model_errors import ChatModelRequestError


def test_roles_and_names_are_kept() -> None:
    assert wire_messages(
        [
            SystemMessage("be brief"),
            SystemMessage(content="new", additional_kwargs={"__openai_role__": "developer"}),
            HumanMessage("hi", name="Zoë K"),
            ChatMessage(content="note", role="critic"),
        ]
    ) == [
        {"role": "system", "content": "be brief"},
        {"role": "developer", "content": "new"},
        {"role": "user", "content": "hi", "name": "Zo__K"},
        {"role": "critic", "content": "note"},
    ]


def test_call_and_result_are_a_pair() -> None:
    history = [
        AIMessage("", tool_calls=[tool_call(name="add", args={"a": "ü"}, id="c1")]),
        ToolMessage(
            [{"type": "text", "text": "3"}, {"type": "text", "text": "4"}], tool_call_id="c1"
        ),
    ]

    assert wire_messages(history) == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "add", "arguments": '{"a": "ü"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "3\n4"},
    ]


def test_broken_call_is_sent_whole_where_it_was_answered() -> None:
    broken = [
        invalid_tool_call(name="add", args='{"a', id="c1", error="cut"),
        invalid_tool_call(name=None, args="x", id="c2", error="cut"),
        invalid_tool_call(name="add", args='{"a', id="c3", error="cut"),
    ]
    answers = [ToolMessage("no", tool_call_id="c1"), ToolMessage("no", tool_call_id="c2")]
    sent = wire_messages([AIMessage("", invalid_tool_calls=broken), *answers])

    assert [(c["id"], c["function"]) for c in sent[0]["tool_calls"]] == [
        ("c1", {"name": "add", "arguments": "{}"}),
        ("c2", {"name": "unknown", "arguments": "{}"}),
    ]


@pytest.mark.parametrize(
    "message",
    [
        AIMessage("", additional_kwargs={"reasoning_content": "let me see"}),
        AIMessage([{"type": "reasoning", "reasoning": "let me see"}]),
        AIMessage("", invalid_tool_calls=[invalid_tool_call(name="a", args="{", id="c1")]),
    ],
    ids=["reasoning beside", "reasoning inside", "broken call"],
)
def test_answer_with_nothing_to_send_is_left_out(message: AIMessage) -> None:
    assert wire_messages([HumanMessage("a"), message, HumanMessage("b")]) == [
        {"role": "user", "content": "a"},
        {"role": "user", "content": "b"},
    ]


@pytest.mark.parametrize("echo", [True, False])
def test_reasoning_goes_back_only_where_it_is_wanted(echo: bool) -> None:
    message = AIMessage("42", additional_kwargs={"reasoning_content": "hm"})
    (sent,) = wire_messages([message], echo_reasoning=echo)

    assert ("reasoning_content" in sent) is echo


def test_signature_goes_back_with_its_call() -> None:
    message = AIMessage(
        "",
        tool_calls=[tool_call(name="add", args={}, id="c1")],
        additional_kwargs={"tool_call_extras": {"c1": {"google": "s"}}},
    )

    assert wire_messages([message])[0]["tool_calls"][0]["extra_content"] == {"google": "s"}


def test_foreign_blocks_of_an_answer_are_left_out() -> None:
    content: list[Any] = [
        {"type": "thinking", "thinking": "hm", "signature": "x"},
        {"type": "text", "text": "42"},
        {"type": "tool_use", "id": "c1", "name": "add", "input": {}},
    ]

    assert wire_messages([AIMessage(content)]) == [{"role": "assistant", "content": "42"}]


def test_unknown_block_of_a_tool_result_is_sent_as_text() -> None:
    result = ToolMessage([{"type": "resource", "uri": "x"}, {"a": 1}], tool_call_id="c1")

    assert wire_messages([result])[0]["content"] == '{"type": "resource", "uri": "x"}\n{"a": 1}'


def test_arguments_in_the_history_that_are_no_json_are_named() -> None:
    message = AIMessage("", tool_calls=[tool_call(name="add", args={"a": object()}, id="c1")])
    with pytest.raises(InvalidInputError, match=r"message 0 \(ai\) are no JSON"):
        wire_messages([message])


def test_message_that_cannot_be_sent_is_named() -> None:
    with pytest.raises(InvalidInputError, match=r"message 1 \(remove\).*cannot be sent"):
        wire_messages([HumanMessage("a"), RemoveMessage(id="1")])


def test_settings_are_merged_key_by_key() -> None:
    merged = merged_settings(
        {"a": 1, "b": {"x": 1, "y": {"z": 1}}, "c": 3, "d": 4},
        {"b": {"y": {"w": 2}}, "c": None},
        {"d": {"e": 5}},
    )

    assert merged == {"a": 1, "b": {"x": 1, "y": {"z": 1, "w": 2}}, "d": {"e": 5}}


def test_half_a_surrogate_pair_in_the_request_is_replaced() -> None:
    body = encode_body({"text": "a\ud83d \ud83d\ude00 ü"}, max_bytes=1000)

    assert json.loads(body) == {"text": "a\ufffd 😀 ü"}


deep: Any = []
for _ in range(20_000):
    deep = [deep]


@pytest.mark.parametrize(
    "value", [object(), float("nan"), {1, 2}, deep], ids=["object", "nan", "set", "deep"]
)
def test_value_that_is_no_json_is_refused(value: Any) -> None:
    with pytest.raises(ChatModelRequestError, match="cannot be written as JSON"):
        encode_body({"value": value}, max_bytes=10**6)


def test_request_longer_than_the_limit_is_refused() -> None:
    with pytest.raises(ChatModelRequestError, match=r"too large: .* max_request_bytes"):
        encode_body({"text": "x" * 100}, max_bytes=100)


ODD: list[Any] = [None, 3, {}, [], float("nan")]
texts = st.sampled_from(["", "hi", "\ud83d", "\x00", "c1", "image/png"])
values: st.SearchStrategy[Any] = texts | st.sampled_from(ODD) | st.builds(object)
kinds = st.sampled_from(
    [
        *("text", "image", "image_url", "audio", "input_audio", "file", "video", "text-plain"),
        *("thinking", "tool_call", "refusal", "non_standard", "hologram"),
    ]
)
keys = st.sampled_from(
    [
        *("text", "url", "base64", "mime_type", "file_id", "image_url", "source", "source_type"),
        *("data", "filename", "extras", "input_audio", "file", "refusal", "value"),
    ]
)


def typed(kind: str, rest: dict[str, Any]) -> dict[str, Any]:
    return {"type": kind, **rest}


def calling(content: Any, args: dict[str, Any], beside: dict[str, Any]) -> AIMessage:
    calls = [tool_call(name="add", args=args, id="c1")]
    return AIMessage(content, tool_calls=calls, additional_kwargs=beside)


blocks = st.builds(typed, kinds, st.dictionaries(keys, values, max_size=3))
contents: st.SearchStrategy[Any] = texts | st.lists(texts | blocks, max_size=3)
histories: st.SearchStrategy[list[BaseMessage]] = st.lists(
    st.builds(HumanMessage, contents, name=st.none() | texts)
    | st.builds(
        calling,
        contents,
        st.dictionaries(texts, values, max_size=2),
        st.dictionaries(
            st.sampled_from(["tool_call_extras", "refusal", "reasoning_content"]),
            values,
            max_size=2,
        ),
    )
    | st.builds(ToolMessage, contents, tool_call_id=texts),
    max_size=4,
)


@given(messages=histories)
def test_any_history_is_sent_as_json_or_refused_in_words(messages: list[BaseMessage]) -> None:
    with suppress(InvalidInputError, ChatModelRequestError):
        wired = wire_messages(messages, echo_reasoning=True)
        assert json.loads(encode_body({"messages": wired}, max_bytes=10**6)) is not None
