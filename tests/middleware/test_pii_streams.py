"""What leaves a run while it goes on: token streams, updates, values, events and traces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
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
