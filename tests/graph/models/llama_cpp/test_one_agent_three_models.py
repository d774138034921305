"""One agent on three models: scripted, embedded, and SmolLM2 behind llama.cpp's server.

What each can do differs, and the inputs say so. The embedded model picks tools and fills schemas
as tool calls. SmolLM2 is too small to choose: its structured answer is held by the server's
grammar, and it makes the one call that it is told to repeat. The agent is the same.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolMessage
from pydantic import BaseModel

from interlock.graph import ProviderStrategy, ToolStrategy, create_agent
from interlock.graph.models import EmbeddedChatModel, ScriptedChatModel
from interlock.state.errors import MissingExtraError

pytestmark = pytest.mark.slow  # starts a model's server

Run = Callable[..., Awaitable[dict[str, Any]]]
Calling = Callable[..., AIMessage]


class Person(BaseModel):
    """A person."""

    name: str
    age: int


def get_weather(city: str) -> str:
    """Get the weather in a city."""
    return f"sunny in {city}"


@dataclass
class Candidate:
    """A model, and how it is asked."""

    model: BaseChatModel
    strategy: type[ToolStrategy[Any] | ProviderStrategy[Any]] = ToolStrategy
    question: str = "What is the weather in Paris?"


@pytest.fixture(scope="module")
def embedded_model() -> Iterator[EmbeddedChatModel]:
    """The embedded model; a tool set takes it seconds to load, so tests share them."""
    try:
        model = EmbeddedChatModel()
    except MissingExtraError as exc:
        pytest.skip(str(exc))
    yield model
    model.close()


def scripted(request: pytest.FixtureRequest) -> Candidate:
    calling: Calling = request.getfixturevalue("calling")
    replies = {
        "Person": calling(("Person", {"name": "Anna", "age": 31})),
        "get_weather": calling(("get_weather", {"city": "Paris"})),
    }
    wanted = "Person" if "answer" in request.node.name else "get_weather"
    return Candidate(ScriptedChatModel([replies[wanted]]))


def embedded(request: pytest.FixtureRequest) -> Candidate:
    return Candidate(request.getfixturevalue("embedded_model"))


def llama_cpp(request: pytest.FixtureRequest) -> Candidate:
    model = request.getfixturevalue("llama")
    return Candidate(model, ProviderStrategy, request.getfixturevalue("call_to_repeat"))


@pytest.fixture(params=[scripted, embedded, llama_cpp], ids=lambda build: build.__name__)
def candidate(request: pytest.FixtureRequest) -> Candidate:
    """Each of the three models."""
    build: Callable[[pytest.FixtureRequest], Candidate] = request.param
    return build(request)


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
