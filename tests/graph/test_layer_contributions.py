"""A stream of updates names the layers that wrote to the state, as it names hooks."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from interlock.graph import create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import AgentMiddleware, ExtendedModelResponse
from interlock.state import AgentState
from interlock.tools import InjectedToolCallId, tool

Layer = Callable[[Any, Any], Any]


class Logged(AgentState[Any]):
    log: Annotated[list[str], operator.add]
    own: Annotated[list[str], operator.add]


@tool
def work(call_id: Annotated[str, InjectedToolCallId]) -> Command[Any]:
    """Work."""
    return Command(update={"own": ["tool"], "messages": [ToolMessage("ok", tool_call_id=call_id)]})


def layers(point: str, **given: Layer) -> list[Any]:
    """A middleware per layer, named after the argument, the first one outermost."""

    def middleware(name: str, layer: Layer) -> Any:
        hook = staticmethod(layer)
        return type(name, (AgentMiddleware,), {point: hook, "state_schema": Logged})()

    return [middleware(name, layer) for name, layer in given.items()]


async def updated_by(
    middleware: Any, *, asynchronous: bool, calls: int = 1, **settings: Any
) -> list[tuple[str, Any]]:
    """Per chunk the node, and who wrote what."""
    asked: list[Any] = [{"name": "work", "args": {}, "id": f"c{n}"} for n in range(calls)]
    model = ScriptedChatModel([AIMessage("", tool_calls=asked), "done"])
    agent = create_agent(model, [work], middleware=middleware, **settings)
    value: Any = {"messages": "go"}
    thread: Any = {"configurable": {"thread_id": "1"}}
    if asynchronous:
        chunks = [c async for c in agent.astream(value, thread, stream_mode="updates")]
    else:
        chunks = list(agent.stream(value, thread, stream_mode="updates"))
    return [(node, u.get("updated_by")) for chunk in chunks for node, u in chunk.items()]


def writing(name: str) -> Layer:
    return lambda request, handler: ExtendedModelResponse(
        handler(request), Command(update={"log": [name]})
    )


def adding(name: str) -> Layer:
    """A layer that adds an update to whatever comes from inside."""

    def layer(request: Any, handler: Any) -> Any:
        inner = handler(request)
        given: Any = getattr(inner, "update", None) or {"messages": [inner]}
        return Command(update={**given, name: [name]})

    return layer


both_modes = pytest.mark.parametrize("asynchronous", [False, True])


@both_modes
async def test_layers_around_the_model(asynchronous: bool) -> None:
    stack = layers("wrap_model_call", Outer=writing("o"), Inner=writing("i"))
    found = await updated_by(stack, asynchronous=asynchronous)
    wrote = {"Inner.wrap_model_call": ["log"], "Outer.wrap_model_call": ["log"]}
    assert found == [("model", wrote), ("tools", None), ("model", wrote)]


@both_modes
async def test_a_node_gives_one_update_however_many_hooks_write_a_key(asynchronous: bool) -> None:
    def write(_state: Any, _runtime: Any) -> dict[str, Any]:
        return {"log": ["x"], "messages": [HumanMessage("more")]}

    hooks = [
        type(
            f"M{n}",
            (AgentMiddleware,),
            {"before_model": staticmethod(write), "state_schema": Logged},
        )()
        for n in range(3)
    ]
    agent = create_agent(ScriptedChatModel(["done"]), middleware=hooks)
    value: Any = {"messages": "go"}
    if asynchronous:
        chunks = [c async for c in agent.astream(value, stream_mode="updates")]
    else:
        chunks = list(agent.stream(value, stream_mode="updates"))
    update = chunks[0]["model"]
    assert update["log"] == ["x", "x", "x"]
    assert [m.text for m in update["messages"]] == ["more", "more", "more", "done"]


@both_modes
async def test_a_layer_around_a_tool_wrote_what_it_added_to_the_tools_update(
    asynchronous: bool,
) -> None:
    stack = layers("wrap_tool_call", Plain=lambda r, h: h(r), Adding=adding("log"))
    found = await updated_by(stack, asynchronous=asynchronous)
    assert found == [
        ("model", None),
        ("tools", {"Adding.wrap_tool_call": ["log"]}),
        ("model", None),
    ]


@both_modes
async def test_what_an_outer_layer_passes_on_stays_the_inner_ones(asynchronous: bool) -> None:
    stack = layers("wrap_tool_call", Outer=adding("own"), Inner=adding("log"))
    wrote = {"Inner.wrap_tool_call": ["log"], "Outer.wrap_tool_call": ["own"]}
    assert (await updated_by(stack, asynchronous=asynchronous))[1] == ("tools", wrote)


@both_modes
async def test_each_of_several_stored_calls_says_its_own(asynchronous: bool) -> None:
    stack = layers("wrap_tool_call", Adding=adding("log"))
    found = await updated_by(
        stack, asynchronous=asynchronous, calls=2, checkpointer=InMemorySaver()
    )
    assert found.count(("tools", {"Adding.wrap_tool_call": ["log"]})) == 2


@both_modes
async def test_a_layer_whose_update_was_dropped_wrote_nothing(asynchronous: bool) -> None:
    def drops(request: Any, handler: Any) -> Any:
        handler(request)
        return ToolMessage("mine", tool_call_id=request.tool_call["id"])

    stack = layers("wrap_tool_call", Drops=drops, Inner=adding("log"))
    assert (await updated_by(stack, asynchronous=asynchronous))[1] == ("tools", None)
