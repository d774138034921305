"""Structured answers in the ``custom`` stream while they are written."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from itertools import pairwise
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.graph import START, MessagesState, StateGraph
from pydantic import BaseModel

from interlock.graph import ProviderStrategy, ToolStrategy, create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.graph.partial_stream import whole_reply
from interlock.middleware import wrap_model_call
from interlock.tools import tool

ASK: dict[str, Any] = {"messages": [("user", "go")]}
Streamed = Callable[..., Awaitable[list[Any]]]


class Trip(BaseModel):
    cities: list[str]
    days: int


GOOD: dict[str, Any] = {"cities": ["Reykjavik", "Longyearbyen", "Hammerfest"], "days": 12}
WRONG: dict[str, Any] = {"cities": ["Reykjavik", "Longyearbyen", "Hammerfest"], "days": "many"}


@pytest.fixture(params=["stream", "astream"])
def streamed(request: pytest.FixtureRequest) -> Streamed:
    """``await streamed(graph, modes, **options)``: all chunks of a run, in each mode."""

    async def go(graph: Any, modes: str | Sequence[str] = "custom", **options: Any) -> list[Any]:
        if request.param == "stream":
            return list(graph.stream(ASK, stream_mode=modes, **options))
        return [chunk async for chunk in graph.astream(ASK, stream_mode=modes, **options)]

    return go


def by_tool(calling: Any, value: Any, start: int = 1) -> AIMessage:
    reply: AIMessage = calling(("Trip", value), start=start)
    return reply


def native(value: Any) -> AIMessage:
    return AIMessage(json.dumps(value))


async def test_an_answer_by_tool_is_shown_as_it_grows(streamed: Streamed, calling: Any) -> None:
    agent = create_agent(
        ScriptedChatModel([by_tool(calling, GOOD)]), response_format=ToolStrategy(Trip)
    )
    shown = await streamed(agent)

    assert {(part["type"], part["attempt"], part["schema"]) for part in shown} == {
        ("structured_partial", 1, "Trip")
    }
    values = [part["value"] for part in shown]
    assert values[0] == {"cities": ["Reykjavik"]}
    assert [len(value["cities"]) for value in values] == [1, 3, 3]
    assert values[-1] == GOOD


async def test_a_native_answer_is_shown_as_it_grows(streamed: Streamed) -> None:
    agent = create_agent(ScriptedChatModel([native(GOOD)]), response_format=ProviderStrategy(Trip))
    values = [part["value"] for part in await streamed(agent)]

    assert "days" not in values[0]
    assert all(before != after for before, after in pairwise(values))
    assert values[-1] == GOOD


async def test_what_was_shown_of_a_refused_attempt_can_be_told_apart(
    streamed: Streamed, calling: Any
) -> None:
    model = ScriptedChatModel([by_tool(calling, WRONG), by_tool(calling, GOOD, 2)])
    shown = await streamed(create_agent(model, response_format=ToolStrategy(Trip)))

    last = {part["attempt"]: part["value"] for part in shown}
    assert last == {1: WRONG, 2: GOOD}
    assert len({part["id"] for part in shown}) == 2


async def test_a_layer_that_asks_twice_makes_two_attempts(streamed: Streamed, calling: Any) -> None:
    @wrap_model_call
    async def insistent(request: Any, handler: Any) -> Any:
        first = await handler(request)
        return first if first.structured_response else await handler(request)

    @wrap_model_call
    def outer(request: Any, handler: Any) -> Any:
        return handler(request)

    model = ScriptedChatModel([by_tool(calling, WRONG), by_tool(calling, GOOD, 2)])
    agent = create_agent(model, response_format=ToolStrategy(Trip), middleware=[insistent])
    shown = await streamed(agent)
    assert {part["attempt"]: part["value"] for part in shown} == {1: WRONG, 2: GOOD}

    model = ScriptedChatModel([by_tool(calling, GOOD)])
    agent = create_agent(model, response_format=ToolStrategy(Trip), middleware=[outer])
    assert (await streamed(agent))[-1]["value"] == GOOD


async def test_an_ordinary_turn_before_the_answer_shows_nothing(
    streamed: Streamed, calling: Any
) -> None:
    @tool
    def look_up(name: str) -> str:
        """Look up a name."""
        return name

    model = ScriptedChatModel([calling(("look_up", {"name": "x"})), by_tool(calling, GOOD, 2)])
    agent = create_agent(model, [look_up], response_format=ToolStrategy(Trip))
    shown = await streamed(agent)

    assert {part["attempt"] for part in shown} == {1}
    assert shown[-1]["value"] == GOOD


async def test_the_reply_and_the_answer_are_those_of_a_run_without_partials(
    streamed: Streamed, run: Any, calling: Any
) -> None:
    def agent() -> Any:
        usage: Any = {"input_tokens": 5, "output_tokens": 7, "total_tokens": 12}
        reply = AIMessage(
            "", id="r1", tool_calls=by_tool(calling, GOOD).tool_calls, usage_metadata=usage
        )
        return create_agent(ScriptedChatModel([reply]), response_format=ToolStrategy(Trip))

    chunks = await streamed(agent(), ["custom", "values"])
    with_partials = [data for mode, data in chunks if mode == "values"][-1]
    without = await run(agent(), ASK)

    assert with_partials["structured_response"] == without["structured_response"] == Trip(**GOOD)
    assert with_partials["token_usage"] == without["token_usage"]
    assert with_partials["messages"][1] == without["messages"][1]
    assert {data["id"] for mode, data in chunks if mode == "custom"} == {"r1"}


@pytest.mark.parametrize("modes", ["values", ["updates", "messages"]])
async def test_nothing_is_shown_to_readers_of_other_streams(
    streamed: Streamed, calling: Any, modes: Any
) -> None:
    agent = create_agent(
        ScriptedChatModel([by_tool(calling, GOOD)]), response_format=ToolStrategy(Trip)
    )

    assert "structured_partial" not in str(await streamed(agent, modes))


async def test_token_stream_and_callbacks_stay_as_they_are(
    streamed: Streamed, calling: Any
) -> None:
    class Tokens(BaseCallbackHandler):
        ended = 0

        def on_llm_end(self, *_: Any, **__: Any) -> None:
            self.ended += 1

    tokens = Tokens()
    agent = create_agent(
        ScriptedChatModel([by_tool(calling, GOOD)]), response_format=ToolStrategy(Trip)
    )
    chunks = await streamed(agent, ["custom", "messages"], config={"callbacks": [tokens]})

    pieces = [data[0] for mode, data in chunks if mode == "messages"]
    assert len([piece for piece in pieces if piece.type == "AIMessageChunk"]) > 3
    assert [data["value"] for mode, data in chunks if mode == "custom"][-1] == GOOD
    assert tokens.ended == 1


async def test_partials_of_an_agent_inside_a_graph_come_through(
    streamed: Streamed, calling: Any
) -> None:
    agent = create_agent(
        ScriptedChatModel([by_tool(calling, GOOD)]), response_format=ToolStrategy(Trip)
    )
    outer: Any = StateGraph(MessagesState).add_node("agent", agent).add_edge(START, "agent")
    chunks = await streamed(outer.compile(), subgraphs=True)

    assert chunks[-1][1]["value"] == GOOD
    assert chunks[-1][0][0].startswith("agent:")


class Plain(BaseChatModel):
    """A model that cannot stream."""

    @property
    def _llm_type(self) -> str:
        return "plain"

    def _generate(self, *_: Any, **__: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=native(GOOD))])

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        """Bind them, unseen."""
        return self.bind(tools=tools, **kwargs)


async def test_a_model_without_stream_answers_all_the_same(streamed: Streamed) -> None:
    agent = create_agent(Plain(), response_format=ProviderStrategy(Trip))
    chunks = await streamed(agent, ["custom", "values"])

    assert chunks[-1][1]["structured_response"] == Trip(**GOOD)


async def test_an_error_in_the_middle_is_the_error_of_the_run(streamed: Streamed) -> None:
    agent = create_agent(
        ScriptedChatModel([OSError("gone")]), response_format=ProviderStrategy(Trip)
    )

    with pytest.raises(OSError, match="gone"):
        await streamed(agent)


def test_no_chunk_at_all_is_no_reply() -> None:
    assert whole_reply([]) is None
