"""Whose name the streamed tokens carry that come from inside a layer."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.graph import create_agent
from interlock.middleware import AgentMiddleware
from interlock.tools import tool


@tool
def work() -> str:
    """Work."""
    return "worked"


class Asking(AgentMiddleware):
    """Asks a model of its own before and after each call."""

    def __init__(self, name: str, inner: Any) -> None:
        self._name, self.inner = name, inner

    @property
    def name(self) -> str:
        return self._name

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        self.inner.invoke("before")
        response = handler(request)
        self.inner.invoke("after")
        return response

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        return self.wrap_model_call(request, handler)


class AskingLater(Asking):
    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        await self.inner.ainvoke("before")
        response = await handler(request)
        await self.inner.ainvoke("after")
        return response

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        return await self.awrap_model_call(request, handler)


async def said(agent: Any, *, asynchronous: bool) -> list[tuple[str, str]]:
    """Text and node of all that is streamed as messages."""
    value, mode = {"messages": "go"}, "messages"
    if asynchronous:
        chunks = [c async for c in agent.astream(value, stream_mode=mode)]
    else:
        chunks = list(agent.stream(value, stream_mode=mode))
    return [(message.text, metadata["langgraph_node"]) for message, metadata in chunks]


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("kind", [Asking, AskingLater])
async def test_tokens_of_a_model_inside_a_layer_carry_the_layers_name(
    scripted: Any, calling: Any, kind: Any, asynchronous: bool
) -> None:
    layers = kind("A", scripted("a")), kind("B", scripted("b"))
    agent = create_agent(scripted(calling(("work", {})), "done"), [work], middleware=layers)

    def around(point: str, text: str, node: str) -> list[tuple[str, str]]:
        outer, inner = ("a", f"A.{point}"), ("b", f"B.{point}")
        return [outer, inner, (text, node), inner, outer]

    # A tool's result is shown when its node ends.
    asked = around("wrap_tool_call", "worked", "tools")
    assert await said(agent, asynchronous=asynchronous) == [
        *around("wrap_model_call", "", "model"),
        *[entry for entry in asked if entry[0] != "worked"],
        ("worked", "tools"),
        *around("wrap_model_call", "done", "model"),
    ]


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_reply_that_a_layer_gives_itself_is_streamed_as_the_nodes(
    scripted: Any, asynchronous: bool
) -> None:
    class Cached(AgentMiddleware):
        def wrap_model_call(self, request: Any, handler: Any) -> Any:  # noqa: ARG002
            return scripted("cached").invoke("x").model_copy(update={"id": "r1"})

    agent = create_agent(scripted("x"), middleware=[Cached()])
    streamed = await said(agent, asynchronous=asynchronous)
    assert streamed == [("cached", "Cached.wrap_model_call"), ("cached", "model")]
