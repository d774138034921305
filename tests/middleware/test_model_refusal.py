from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langchain_core.exceptions import ModelRefusalError
from langchain_core.messages import AIMessage
from pydantic import BaseModel

from interlock.graph import ProviderStrategy, create_agent
from interlock.middleware import (
    ModelFallbackMiddleware,
    ModelRefusalMiddleware,
    ModelRetryMiddleware,
)

Run = Callable[..., Awaitable[dict[str, Any]]]
Scripted = Callable[..., Any]

REFUSAL = AIMessage(content_blocks=[{"type": "refusal", "refusal": "not that"}])


class Answer(BaseModel):
    value: int


async def test_refusal_is_raised(run: Run, scripted: Scripted) -> None:
    agent = create_agent(scripted(REFUSAL), middleware=[ModelRefusalMiddleware()])
    with pytest.raises(ModelRefusalError, match="not that"):
        await run(agent, {"messages": "hi"})


@pytest.mark.parametrize("content", ["", "I see.", [{"type": "text", "text": "I see."}]])
@pytest.mark.parametrize("told", [{}, {"model_provider": "somebody"}, {"model_provider": "openai"}])
async def test_refusal_beside_the_content_is_raised(
    run: Run, scripted: Scripted, content: Any, told: dict[str, Any]
) -> None:
    reply = AIMessage(content, additional_kwargs={"refusal": "not that"}, response_metadata=told)
    agent = create_agent(scripted(reply), middleware=[ModelRefusalMiddleware()])

    with pytest.raises(ModelRefusalError, match="output: not that") as caught:
        await run(agent, {"messages": "hi"})

    raw: Any = caught.value.raw_message
    assert raw.additional_kwargs == {"refusal": "not that"}


@pytest.mark.parametrize("told", [{}, {"model_provider": "somebody"}, {"model_provider": "openai"}])
async def test_refusal_in_a_block_of_any_provider_is_raised(
    run: Run, scripted: Scripted, told: dict[str, Any]
) -> None:
    block: Any = {"type": "refusal", "refusal": "not that", "extras": {"category": "weapons"}}
    reply = AIMessage([block], response_metadata=told)
    agent = create_agent(scripted(reply), middleware=[ModelRefusalMiddleware()])

    with pytest.raises(ModelRefusalError, match=r"'weapons'.*not that"):
        await run(agent, {"messages": "hi"})


@pytest.mark.parametrize("nothing", [None, ""])
async def test_empty_refusal_beside_the_content_is_none(
    run: Run, scripted: Scripted, nothing: str | None
) -> None:
    reply = AIMessage("yes", additional_kwargs={"refusal": nothing})
    agent = create_agent(scripted(reply), middleware=[ModelRefusalMiddleware()])

    result = await run(agent, {"messages": "hi"})

    assert result["messages"][-1].text == "yes"


async def test_answer_in_words_is_no_refusal(run: Run, scripted: Scripted) -> None:
    agent = create_agent(scripted("I cannot do that."), middleware=[ModelRefusalMiddleware()])
    result = await run(agent, {"messages": "hi"})
    assert result["messages"][-1].text == "I cannot do that."


async def test_another_model_is_asked(run: Run, scripted: Scripted) -> None:
    guards = [ModelFallbackMiddleware(scripted("answer")), ModelRefusalMiddleware()]
    result = await run(create_agent(scripted(REFUSAL), middleware=guards), {"messages": "hi"})
    assert result["messages"][-1].text == "answer"


async def test_refusal_is_not_tried_again(run: Run, scripted: Scripted) -> None:
    model = scripted(REFUSAL)
    guards = [ModelRetryMiddleware(initial_delay=0), ModelRefusalMiddleware()]
    with pytest.raises(ModelRefusalError):
        await run(create_agent(model, middleware=guards), {"messages": "hi"})
    assert model.calls == 1


async def test_refused_structured_answer_is_told_as_a_refusal(run: Run, scripted: Scripted) -> None:
    agent = create_agent(
        scripted(REFUSAL),
        response_format=ProviderStrategy(Answer),
        middleware=[ModelRefusalMiddleware()],
    )
    with pytest.raises(ModelRefusalError):
        await run(agent, {"messages": "hi"})
