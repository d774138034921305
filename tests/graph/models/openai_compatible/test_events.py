"""The same stream through langchain-core's other readers: v1 content and protocol events."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, message_chunk_to_message

pytestmark = pytest.mark.filterwarnings("ignore::langchain_core._api.LangChainBetaWarning")

Net = Any  # the loopback network of conftest.py


def fragment(index: int, arguments: str, ident: str | None = None, name: str | None = None) -> Any:
    function = {"name": name, "arguments": arguments}
    return {"tool_calls": [{"index": index, "id": ident, "function": function}]}


EVENTS = [
    {"reasoning_content": "hm"},
    {"content": "hi"},
    fragment(0, "", "c1", "add"),
    fragment(0, '{"a": 1}'),
    fragment(1, '{"b": 2}', "c2", "sub"),
]


@pytest.mark.parametrize(("finish", "runs"), [("tool_calls", True), ("length", False)])
def test_protocol_events_give_the_same_calls(net: Net, finish: str, runs: bool) -> None:
    model = net.client(net.provider(net.streamed(*EVENTS, finish)))
    message = model.stream_events("hi", version="v3").output

    assert isinstance(message, AIMessage)
    assert message.text == "hi"
    assert [c["args"] for c in message.tool_calls] == ([{"a": 1}, {"b": 2}] if runs else [])
    assert len(message.invalid_tool_calls) == (0 if runs else 2)


@pytest.mark.parametrize(("finish", "runs"), [("tool_calls", True), ("length", False)])
def test_standard_content_gives_the_same_calls(
    net: Net, gather: Any, finish: str, runs: bool
) -> None:
    model = net.client(net.provider(net.streamed(*EVENTS, finish)), output_version="v1")
    message = message_chunk_to_message(gather(model))

    assert isinstance(message, AIMessage)
    assert [c["args"] for c in message.tool_calls] == ([{"a": 1}, {"b": 2}] if runs else [])
    assert [block["type"] for block in message.content_blocks] == [
        "reasoning",
        "text",
        *(["tool_call" if runs else "invalid_tool_call"] * 2),
    ]
