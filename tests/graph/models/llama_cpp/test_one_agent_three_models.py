"""One agent on three models: scripted, embedded, and SmolLM2 behind llama.cpp's server.

What each can do differs, and the inputs say so. The embedded model picks tools and fills schemas
as tool calls. SmolLM2 is too small to choose: its structured answer is held by the server's
grammar, and it makes the one call that it is told to repeat. The agent is the same.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from pydantic import BaseModel

from interlock.graph import AgentGraph, ProviderStrategy, ToolStrategy, create_agent
from interlock.graph.models import (
    EmbeddedChatModel,
    OpenAICompatibleChatModel,
    ScriptedChatModel,
)
from interlock.state.model_errors import ChatModelContextOverflowError, ChatModelRequestError

pytestmark = pytest.mark.slow  # starts a model's server

Run = Callable[..., Awaitable[dict[str, Any]]]
Calling = Callable[..., AIMessage]
Streamed = Callable[[AgentGraph, str], Awaitable[tuple[list[BaseMessage], list[BaseMessage]]]]


class Person(BaseModel):
    """A person."""

    name: str
    age: int


def get_weather(city: str) -> str:
    """Get the weather in a city."""
    return f"sunny in {city}"


@dataclass
class Candidate:
    """A model, how it is asked, and models that fail: alike inside, each for its own reason."""

    model: BaseChatModel
    speaker: BaseChatModel
    """The model where it is to answer in words."""
    refused: BaseChatModel
    """The model where its provider refuses the request."""
    overflowing: BaseChatModel
    """The model where the request is too long for it."""
    strategy: type[ToolStrategy[Any] | ProviderStrategy[Any]] = ToolStrategy
    question: str = "What is the weather in Paris?"


def scripted(request: pytest.FixtureRequest) -> Candidate:
    calling: Calling = request.getfixturevalue("calling")
    replies = {
        "Person": calling(("Person", {"name": "Anna", "age": 31})),
        "get_weather": calling(("get_weather", {"city": "Paris"})),
    }
    wanted = "Person" if "structured" in request.node.name else "get_weather"
    return Candidate(
        ScriptedChatModel([replies[wanted]]),
        speaker=ScriptedChatModel(["Two and two is four."]),
        refused=ScriptedChatModel([ChatModelRequestError("no")]),
        overflowing=ScriptedChatModel([ChatModelContextOverflowError("too long")]),
    )


def embedded(request: pytest.FixtureRequest) -> Candidate:
    model: EmbeddedChatModel = request.getfixturevalue("embedded_model")
    asked_amiss: Any = model.bind(response_format={"type": "json_object"})
    return Candidate(model, speaker=model, refused=asked_amiss, overflowing=model)


def llama_cpp(request: pytest.FixtureRequest) -> Candidate:
    model: OpenAICompatibleChatModel = request.getfixturevalue("llama")
    nonsense = {"name": "x", "schema": {"type": "nonsense"}}
    response_format = {"type": "json_schema", "json_schema": nonsense}
    return Candidate(
        model,
        speaker=model.model_copy(update={"stop": ["."]}),
        refused=model.model_copy(update={"model_kwargs": {"response_format": response_format}}),
        overflowing=model,
        strategy=ProviderStrategy,
        question=request.getfixturevalue("call_to_repeat"),
    )


@pytest.fixture(params=[scripted, embedded, llama_cpp], ids=lambda build: build.__name__)
def candidate(request: pytest.FixtureRequest) -> Candidate:
    """Each of the three models."""
    build: Callable[[pytest.FixtureRequest], Candidate] = request.param
    return build(request)


@pytest.fixture(params=["stream", "astream"])
def streamed(request: pytest.FixtureRequest) -> Streamed:
    """``await streamed(agent, text)``: the pieces of a run, and the messages of its end."""

    async def go(agent: AgentGraph, text: str) -> tuple[list[BaseMessage], list[BaseMessage]]:
        modes: Any = {"stream_mode": ["messages", "values"]}
        value: Any = {"messages": text}
        if request.param == "stream":
            events = list(agent.stream(value, **modes))
        else:
            events = [event async for event in agent.astream(value, **modes)]
        pieces = [data[0] for mode, data in events if mode == "messages"]
        values = [data for mode, data in events if mode == "values"]
        return pieces, values[-1]["messages"]

    return go


async def test_a_text_ends_the_run(candidate: Candidate, run: Run) -> None:
    result = await run(create_agent(candidate.speaker, [get_weather]), {"messages": "What is 2+2?"})
    assert isinstance(result["messages"][-1], AIMessage)
    assert result["messages"][-1].text
    assert result["exit_reason"] == "text"


async def test_the_pieces_of_a_streamed_text_are_the_text(
    candidate: Candidate, streamed: Streamed
) -> None:
    pieces, messages = await streamed(
        create_agent(candidate.speaker, [get_weather]), "What is 2+2?"
    )
    assert (
        "".join(piece.text for piece in pieces if isinstance(piece, AIMessage)) == messages[-1].text
    )


async def test_a_streamed_call_runs_once_and_whole(
    candidate: Candidate, streamed: Streamed
) -> None:
    agent = create_agent(candidate.model, [get_weather], exit_conditions=["get_weather"])
    _, messages = await streamed(agent, candidate.question)
    assert messages[-1].text == "sunny in Paris"
    assert [m.type for m in messages] == ["human", "ai", "tool"]


async def test_a_refused_request_leaves_the_run_as_an_error(candidate: Candidate, run: Run) -> None:
    agent = create_agent(candidate.refused)
    with pytest.raises(ChatModelRequestError):
        await run(agent, {"messages": "hi"})


async def test_too_long_a_request_leaves_the_run_as_an_overflow(
    candidate: Candidate, run: Run
) -> None:
    agent = create_agent(candidate.overflowing, [get_weather])
    with pytest.raises(ChatModelContextOverflowError):
        await run(agent, {"messages": "word " * 2000})


async def test_a_structured_answer_ends_the_run(candidate: Candidate, run: Run) -> None:
    agent = create_agent(candidate.model, response_format=candidate.strategy(Person))
    result = await run(agent, {"messages": "Anna is 31 years old."})
    assert result["structured_response"] == Person(name="Anna", age=31)
    assert result["exit_reason"] == "structured_response"


async def test_a_tool_runs_with_the_arguments_of_the_call(
    candidate: Candidate, run: Run, assert_valid: Callable[[Sequence[Any]], None]
) -> None:
    agent = create_agent(candidate.model, [get_weather], exit_conditions=["get_weather"])
    result = await run(agent, {"messages": candidate.question})
    assert_valid(result["messages"])
    last = result["messages"][-1]
    assert isinstance(last, ToolMessage)
    assert last.text == "sunny in Paris"
    assert result["exit_reason"] == "get_weather"
    assert result["tool_call_counts"] == {"get_weather": 1}
