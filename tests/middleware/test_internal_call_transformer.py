from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.messages import AIMessage

from interlock.graph import create_agent
from interlock.middleware import AgentMiddleware
from interlock.middleware.internal_call_transformer import (
    InternalCallTransformer,
    internal_call_metadata,
    internal_config,
)


class _Asking(AgentMiddleware):
    """Asks a model of its own before the agent's."""

    transformers = (InternalCallTransformer,)

    def __init__(self, model: Any) -> None:
        self.model = model

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        self.model.invoke("inner", internal_config("test"))
        return handler(request)


def test_internal_call_is_not_in_the_messages_stream(scripted: Callable[..., Any]) -> None:
    agent = create_agent(scripted("outer"), middleware=[_Asking(scripted("inner"))])
    stream = agent.stream({"messages": "hi"}, stream_mode="messages")
    texts = [message.text for message, _ in stream if isinstance(message, AIMessage)]
    assert texts == ["outer"]


def test_mark_cannot_be_guessed() -> None:
    assert all(len(str(value)) >= 32 for value in internal_call_metadata().values())


def test_event_of_another_namespace_is_left_alone() -> None:
    data = ({"event": "message-start", "role": "ai"}, internal_call_metadata())
    event: Any = {"method": "messages", "params": {"namespace": ["inner"], "data": data}}
    assert InternalCallTransformer().process(event)
    assert data[0]["role"] == "ai"
