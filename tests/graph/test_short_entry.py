"""A run that nobody watches begins at the model, and comes to the same."""

from __future__ import annotations

from collections.abc import Callable
from operator import add
from typing import Annotated, Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler, get_usage_metadata_callback
from langchain_core.globals import set_debug
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_config
from langgraph.errors import GraphRecursionError
from langgraph.graph import START, MessagesState, StateGraph

from interlock.graph import AgentState, ToolStrategy, create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import before_model
from interlock.tools import tool

Run = Callable[..., Any]
GO: dict[str, Any] = {"messages": [("user", "go")]}


class Tally(AgentState):
    """A state with a key that adds up."""

    points: Annotated[int, add]


@tool
def work() -> str:
    """Work."""
    return "worked"


def reply(name: str, args: dict[str, Any]) -> AIMessage:
    made: Any = [{"name": name, "args": args, "id": "c1", "type": "tool_call"}]
    return AIMessage("", tool_calls=made, id="a1")


@pytest.fixture
def steps() -> list[int]:
    """Superstep of each model call: 0 where the run began at the model, 1 after langgraph's own."""
    return []


@pytest.fixture
def agent(steps: list[int]) -> Callable[..., Any]:
    """``agent(replies, **settings)``: an agent that notes its supersteps."""

    def note(_state: Any) -> None:
        steps.append(get_config().get("metadata", {})["langgraph_step"])

    def make(*replies: Any, **settings: Any) -> Any:
        model = ScriptedChatModel(replies or ["done"], repeat_last=True)
        return create_agent(model, middleware=[before_model()(note)], **settings)

    return make


CASES: list[tuple[list[Any], dict[str, Any], dict[str, Any]]] = [
    (["done"], {}, GO),
    ([reply("work", {}), "done"], {"tools": [work]}, GO),
    ([reply("int", {"value": 3})], {"response_format": ToolStrategy(int)}, GO),
    (["done"], {"state_schema": Tally}, {**GO, "points": 4}),
    (["done"], {}, {"messages": [HumanMessage("a", id="1"), HumanMessage("b", id="1")]}),
    (["done"], {}, {"messages": "go"}),
]


@pytest.mark.parametrize(("replies", "settings", "value"), CASES)
async def test_the_result_is_that_of_a_watched_run(
    run: Run,
    agent: Callable[..., Any],
    steps: list[int],
    replies: list[Any],
    settings: dict[str, Any],
    value: Any,
) -> None:
    short = await run(agent(*replies, **settings), value)
    assert steps.pop(0) == 0
    steps.clear()
    long = await run(agent(*replies, **settings), value, {"callbacks": [BaseCallbackHandler()]})
    assert steps.pop(0) == 1

    assert list(map(plain, short["messages"])) == list(map(plain, long["messages"]))
    assert all(message.id for message in short["messages"])
    random = {"messages", "exit_message", "last_message"}
    assert short.keys() == long.keys()
    assert {k: v for k, v in short.items() if k not in random} == {
        k: v for k, v in long.items() if k not in random
    }


def plain(message: BaseMessage) -> tuple[str, str, Any]:
    """A message without its id, which is new for each run."""
    return message.type, message.text, getattr(message, "tool_calls", None)


@pytest.mark.parametrize(
    ("settings", "options"),
    [
        ({"checkpointer": InMemorySaver}, {"configurable": {"thread_id": "t"}}),
        ({}, {"callbacks": [BaseCallbackHandler()]}),
        ({"debug": True}, {}),
        ({"interrupt_after": ["tools"], "tools": [work]}, {}),
    ],
)
async def test_a_run_that_is_watched_begins_with_its_input(
    run: Run,
    agent: Callable[..., Any],
    steps: list[int],
    settings: dict[str, Any],
    options: dict[str, Any],
) -> None:
    made = {name: value() if isinstance(value, type) else value for name, value in settings.items()}
    await run(agent(**made), GO, options)

    assert steps == [1]


async def test_handlers_of_a_context_or_of_the_graph_count_as_well(
    run: Run, agent: Callable[..., Any], steps: list[int]
) -> None:
    with get_usage_metadata_callback():
        await run(agent(), GO)
    await run(agent().with_config({"callbacks": [BaseCallbackHandler()]}), GO)
    set_debug(True)
    try:
        await run(agent(), GO)
    finally:
        set_debug(False)

    assert steps == [1, 1, 1]


async def test_streams_and_inner_runs_begin_with_their_input(
    run: Run, agent: Callable[..., Any], steps: list[int]
) -> None:
    list(agent().stream(GO))
    outer: Any = StateGraph(MessagesState).add_node("agent", agent()).add_edge(START, "agent")
    await run(outer.compile(), GO)

    assert steps == [1, 1]


async def test_the_limit_of_supersteps_is_reached_as_before(
    run: Run, agent: Callable[..., Any]
) -> None:
    with pytest.raises(GraphRecursionError):
        await run(agent(), GO, {"recursion_limit": 1})
    assert (await run(agent(), GO, {"recursion_limit": 2}))["exit_reason"] == "text"


async def test_an_input_that_a_reducer_refuses_is_the_same_error(
    run: Run, agent: Callable[..., Any]
) -> None:
    said: list[str] = []
    for options in ({}, {"callbacks": [BaseCallbackHandler()]}):
        with pytest.raises(TypeError) as caught:
            await run(agent(state_schema=Tally), {**GO, "points": "many"}, options)
        said.append(str(caught.value))

    assert said[0] == said[1]
