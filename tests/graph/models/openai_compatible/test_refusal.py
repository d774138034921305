"""A provider's refusal, as an agent sees it."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.exceptions import ModelRefusalError

from interlock.graph import create_agent
from interlock.middleware import ModelRefusalMiddleware

Net = Any


async def run(agent: Any, style: str) -> None:
    question: Any = {"messages": "hi"}
    if style == "invoke":
        agent.invoke(question)
    elif style == "ainvoke":
        await agent.ainvoke(question)
    elif style == "stream":
        list(agent.stream(question, stream_mode="messages"))
    else:
        async for _ in agent.astream(question, stream_mode="messages"):
            pass


@pytest.mark.parametrize("provider", ["", "mistral"])
@pytest.mark.parametrize("style", ["invoke", "ainvoke", "stream", "astream"])
async def test_refusal_of_an_endpoint_is_noticed(net: Net, provider: str, style: str) -> None:
    pieces: list[Any] = [{"refusal": "I will "}, {"refusal": "not."}, "stop"]
    whole = net.whole(net.completion(None, refusal="I will not."))
    server = net.provider(net.streamed(*pieces) if "stream" in style else whole)
    named = {"provider": provider} if provider else {}
    agent = create_agent(net.client(server, **named), middleware=[ModelRefusalMiddleware()])

    with pytest.raises(ModelRefusalError, match=r"output: I will not\.\n"):
        await run(agent, style)

    assert bool(server.seen[0].body.get("stream")) == ("stream" in style)
