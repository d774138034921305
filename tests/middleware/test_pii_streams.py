"""What leaves a run while it goes on: token streams, updates, values, events and traces."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import reduce
from operator import add
from typing import Any, cast

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from interlock.graph import AgentGraph, create_agent
from interlock.graph.models.scripted import ScriptedChatModel
from interlock.middleware import AgentMiddleware, ModelFallbackMiddleware, PIIMiddleware

NAMES = ("alice@", "bob@", "carol@", "dave@")
CONFIG: Any = {"configurable": {"thread_id": "t"}}


@tool
def lookup(who: str) -> str:
    """Look somebody up."""
    return f"{who} is bob@example.com"


def calls(number: int = 1) -> AIMessage:
    args = {"who": "alice@example.com"}
    tool_calls = [{"name": "lookup", "args": args, "id": f"c{n}"} for n in range(number)]
    return AIMessage("I look up alice@example.com for you now", tool_calls=tool_calls)


def agent(*more: AgentMiddleware[Any, Any, Any], number: int = 1, **options: Any) -> AgentGraph:
    answer = "It is carol@example.com, " + "and so on " * 30 + "or dave@example.org."
    middleware = PIIMiddleware("email", apply_to_output=True, apply_to_tool_results=True)
    model = ScriptedChatModel([calls(number), answer])
    return create_agent(model, [lookup], middleware=[middleware, *more], **options)


async def chunks(graph: AgentGraph, asynchronous: bool, **options: Any) -> list[Any]:
    value = {"messages": [HumanMessage("look her up")]}
    if asynchronous:
        return [chunk async for chunk in graph.astream(value, CONFIG, **options)]
    return list(graph.stream(value, CONFIG, **options))


def leaks(value: Any) -> list[str]:
    return [name for name in NAMES if name in repr(value)]


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("number", [1, 3])
@pytest.mark.parametrize("mode", ["messages", "updates", "values", "tasks", "checkpoints", "debug"])
async def test_no_stream_shows_what_is_redacted(mode: str, number: int, asynchronous: bool) -> None:
    shown = await chunks(
        agent(number=number, checkpointer=InMemorySaver()), asynchronous, stream_mode=mode
    )

    assert "[REDACTED_EMAIL]" in repr(shown)
    assert leaks(shown) == []


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_tokens_flow_while_the_model_speaks(asynchronous: bool) -> None:
    shown = await chunks(agent(), asynchronous, stream_mode="messages")
    pieces = [m.text for m, _ in shown if m.type == "AIMessageChunk" and m.text]

    assert len(pieces) > 20
    assert "".join(pieces[-25:]).endswith("or [REDACTED_EMAIL].")


async def test_model_that_an_inner_layer_chooses_is_guarded_too() -> None:
    fallback = ModelFallbackMiddleware(ScriptedChatModel(["ask dave@example.org", "bye"]))
    model = ScriptedChatModel([RuntimeError("down")], repeat_last=True)
    pii = PIIMiddleware("email", apply_to_output=True)
    graph = create_agent(model, middleware=[pii, fallback])

    shown = await chunks(graph, asynchronous=False, stream_mode="messages")

    assert "[REDACTED_EMAIL]" in repr(shown)
    assert leaks(shown) == []


async def test_several_rules_hold_in_one_stream() -> None:
    model = ScriptedChatModel(["alice@example.com at 10.0.0.1 or so, as they say"])
    rules = [PIIMiddleware(kind, apply_to_output=True) for kind in ("email", "ip")]

    shown = await chunks(create_agent(model, middleware=rules), False, stream_mode="messages")

    text = "".join(m.text for m, _ in shown)
    assert text == "[REDACTED_EMAIL] at [REDACTED_IP] or so, as they say"


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_traces_of_model_and_tools_hear_only_what_is_left(
    asynchronous: bool, listener: Any
) -> None:
    value = {"messages": [HumanMessage("look her up")]}
    if asynchronous:
        await agent().ainvoke(value, {"callbacks": [listener]})
    else:
        agent().invoke(value, {"callbacks": [listener]})

    assert any("on_tool_end" in heard for heard in listener.heard)
    assert [heard for heard in listener.heard if leaks(heard)] == []


async def test_events_of_the_older_protocol_hear_only_what_is_left() -> None:
    value = {"messages": [HumanMessage("look her up")]}
    events = [event async for event in agent().astream_events(value, version="v2")]

    assert any(event["event"] == "on_chat_model_stream" for event in events)
    assert leaks(events) == []


class Details(BaseChatModel):
    """Says an address in pieces, in a place of its own."""

    fields: Any

    @property
    def _llm_type(self) -> str:
        return "details"

    def _generate(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    def _stream(self, *_: Any, **__: Any) -> Iterator[ChatGenerationChunk]:
        for piece in ("ask ali", "ce@exam", "ple.com"):
            message = AIMessageChunk(**self.fields(piece), id="m")
            yield ChatGenerationChunk(message=message)
        yield ChatGenerationChunk(message=AIMessageChunk(content="", id="m", chunk_position="last"))


def detail(text: str) -> dict[str, Any]:
    part = {"type": "reasoning.text", "text": text, "index": 0}
    return {"content": "", "additional_kwargs": {"reasoning_details": [part]}}


PLACES: dict[str, Callable[[str], dict[str, Any]]] = {
    "list": detail,
    "dict": lambda t: {"content": "", "additional_kwargs": {"audio": {"transcript": t}}},
    "block": lambda t: {"content": [{"type": "x_note", "body": t, "index": 0}]},
    "blocks": lambda t: {"content": [{"type": "text", "text": t, "index": len(t) + t.find("l")}]},
}


@pytest.mark.parametrize("place", list(PLACES))
@pytest.mark.parametrize("asynchronous", [False, True])
async def test_pieces_add_up_to_nothing_that_is_redacted(
    place: str, asynchronous: bool, listener: Any
) -> None:
    pii = PIIMiddleware("email", apply_to_output=True)
    graph = create_agent(Details(fields=PLACES[place]), middleware=[pii])
    config: Any = {"callbacks": [listener]}
    value, mode = {"messages": [HumanMessage("x")]}, "messages"
    if asynchronous:
        shown = [part async for part in graph.astream(value, config, stream_mode=mode)]
    else:
        shown = list(graph.stream(value, config, stream_mode=mode))

    pieces = [cast("Any", m) for m, _ in shown if isinstance(m, AIMessageChunk)]
    whole = repr(reduce(add, pieces))
    assert "[REDACTED_EMAIL]" in whole
    assert not re.search("ce@exam|ple.com", whole + repr(listener.heard))


@pytest.mark.filterwarnings("ignore::langchain_core._api.beta_decorator.LangChainBetaWarning")
@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_run_of_typed_events_calls_its_tools_as_any_other(asynchronous: bool) -> None:
    value = {"messages": [HumanMessage("look her up")]}
    streamed: Any
    if asynchronous:
        streamed = await (await agent(number=2).astream_events(value, version="v3")).output()
    else:
        streamed = agent(number=2).stream_events(value, version="v3").output
    plain = agent(number=2).invoke(value)["messages"]

    assert streamed["messages"][1].tool_calls == plain[1].tool_calls
    assert [m.text for m in streamed["messages"]] == [m.text for m in plain]
    assert leaks(streamed["messages"][1:]) == []


@pytest.fixture
def listener() -> Any:
    from langchain_core.callbacks import BaseCallbackHandler  # noqa: PLC0415

    class Listener(BaseCallbackHandler):
        def __init__(self) -> None:
            self.heard: list[str] = []

        def __getattribute__(self, name: str) -> Any:
            if not name.startswith("on_"):
                return super().__getattribute__(name)
            hear: Callable[..., None] = lambda *a, **k: self.heard.append(f"{name} {a!r} {k!r}")  # noqa: E731
            return hear

    return Listener()
