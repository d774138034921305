"""Every reply that the model gave counts once, whatever the layers make of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from interlock.graph import create_agent
from interlock.graph.binding import ModelBinder
from interlock.graph.models import ScriptedChatModel
from interlock.graph.paid_replies import digest_of
from interlock.graph.structured_output import OutputPlan
from interlock.middleware import AgentMiddleware, ModelRequest, ModelResponse

Layer = Callable[[Any, Any], Any]


def used(tokens: int) -> Any:
    return {"input_tokens": tokens, "output_tokens": 0, "total_tokens": tokens}


def twice(request: Any, handler: Any) -> Any:
    handler(request)
    return handler(request)


def first_of_two(request: Any, handler: Any) -> Any:
    first = handler(request)
    handler(request)
    return first


def dropped(request: Any, handler: Any) -> Any:
    handler(request)
    return AIMessage("mine")


def rewritten(request: Any, handler: Any) -> Any:
    reply = handler(request).result[0]
    return AIMessage("other words", usage_metadata=reply.usage_metadata)


def corrected(request: Any, handler: Any) -> Any:
    reply = handler(request).result[0]
    return reply.model_copy(update={"usage_metadata": used(100)})


def both_of_them(request: Any, handler: Any) -> Any:
    return ModelResponse([r for _ in range(2) for r in handler(request).result])


def own(request: Any, handler: Any) -> Any:  # noqa: ARG001
    return AIMessage("from elsewhere", usage_metadata=used(7))


@pytest.mark.parametrize(
    ("function", "total", "context"),
    [
        (twice, 3, 2),
        (first_of_two, 3, 1),
        (dropped, 1, 0),
        (rewritten, 1, 1),
        (corrected, 100, 100),
        (both_of_them, 3, 2),
        (own, 7, 7),
    ],
)
async def test_usage(run: Any, function: Layer, total: int, context: int) -> None:
    model = ScriptedChatModel(
        [AIMessage("1", usage_metadata=used(1)), AIMessage("2", usage_metadata=used(2))]
    )
    layered = type("L", (AgentMiddleware,), {"wrap_model_call": staticmethod(function)})()
    result = await run(create_agent(model, middleware=[layered]), {"messages": "go"})
    assert result["token_usage"]["total_tokens"] == total
    assert result["context_tokens"] == context


def digest(*messages: Any, **changes: Any) -> str:
    request: ModelRequest[Any] = ModelRequest(
        model=changes.pop("model", ScriptedChatModel(["x"])), messages=[], **changes
    )
    binder = ModelBinder([], lambda *_, **__: False, open_ended=True)
    return digest_of(binder.bind(request, OutputPlan()), list(messages))


class Other(ScriptedChatModel):
    pass


def test_a_digest_is_that_of_what_is_sent() -> None:
    asked = digest(HumanMessage("q", id="1"))
    assert asked == digest(HumanMessage("q", id="2"))
    others = [
        digest(HumanMessage("Q")),
        digest(AIMessage("q")),
        digest(HumanMessage("q"), HumanMessage("q")),
        digest(HumanMessage("q", name="n")),
        digest(HumanMessage("q"), model_settings={"temperature": 0}),
        digest(HumanMessage("q"), tools=[{"name": "t", "description": "T."}]),
        digest(HumanMessage("q"), model=Other(steps=["x"])),
        digest(AIMessage("", tool_calls=[{"name": "t", "args": {}, "id": "1"}])),
        digest(AIMessage("", tool_calls=[{"name": "t", "args": {"a": 1}, "id": "1"}])),
        digest(ToolMessage("q", tool_call_id="1")),
        digest(ToolMessage("q", tool_call_id="2")),
    ]
    assert len({asked, *others}) == len(others) + 1
