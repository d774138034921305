"""A server of bytes, and what every answer must hold, whoever wrote it."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import Any

import httpx
import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage, message_chunk_to_message

from interlock.graph.models import OpenAICompatibleChatModel
from interlock.graph.models.openai_compatible.request import encode_body, wire_messages
from interlock.state.errors import ChatModelError


class _Blocks(httpx.SyncByteStream):
    def __init__(self, blocks: Sequence[bytes], broken: Exception | None) -> None:
        self._blocks, self._broken = blocks, broken

    def __iter__(self) -> Any:
        yield from self._blocks
        if self._broken is not None:
            raise self._broken


def _answered(
    blocks: Sequence[bytes],
    *,
    whole: bool = False,
    content_type: str = "text/event-stream",
    status: int = 200,
    broken: Exception | None = None,
) -> AIMessage | ChatModelError:
    def answer(_: httpx.Request) -> httpx.Response:
        headers = {"content-type": content_type}
        return httpx.Response(status, headers=headers, stream=_Blocks(blocks, broken))

    model = OpenAICompatibleChatModel(
        model="m", base_url="http://h/v1", max_retries=0, transport=httpx.MockTransport(answer)
    )
    try:
        message = model.invoke("hi") if whole else _gathered(model)
    except ChatModelError as error:
        return error
    _check(message)
    return message


def _gathered(model: OpenAICompatibleChatModel) -> AIMessage:
    first, *rest = model.stream("hi")
    one_by_one: Any = first
    for piece in rest:
        one_by_one = one_by_one + piece
    at_once: Any = first + rest
    assert one_by_one.chunk_position == "last"
    assert (one_by_one.content, one_by_one.tool_calls) == (at_once.content, at_once.tool_calls)
    message = message_chunk_to_message(one_by_one)
    assert isinstance(message, AIMessage)
    return message


def _check(message: AIMessage) -> None:
    """Hold a message to what the next step does with it: show, store, run, send back."""
    ids = [call["id"] for call in (*message.tool_calls, *message.invalid_tool_calls)]
    assert all(ids)
    assert len(set(ids)) == len(ids)
    assert all(call["name"] for call in message.tool_calls)
    if message.tool_calls:
        finish = message.response_metadata.get("finish_reason")
        assert finish not in ("length", "content_filter")
    assert repr(message)
    assert isinstance(message.content_blocks, list)
    assert isinstance(message.text, str)
    assert pickle.loads(pickle.dumps(message)).content == message.content  # noqa: S301 - made here
    assert message.model_dump_json()
    results = [ToolMessage("done", tool_call_id=call["id"]) for call in message.tool_calls]
    history = wire_messages([HumanMessage("hi"), message, *results], echo_reasoning=True)
    assert encode_body({"messages": history}, max_bytes=10**9).decode()


@pytest.fixture(scope="session")
def answered() -> Callable[..., AIMessage | ChatModelError]:
    """Ask a server that answers with the given blocks: a message that can go on, or an error."""
    return _answered
