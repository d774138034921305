"""An agent as a node of a larger graph: what goes in, and what comes out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import START, MessagesState, StateGraph
from pydantic import BaseModel
from typing_extensions import TypedDict

from interlock.graph import (
    Agent,
    agent_node,
    handoff_tool,
)
from interlock.graph.models import ScriptedChatModel
from interlock.state.errors import ConfigurationError, InvalidInputError

Calling = Callable[..., AIMessage]
Agents = Callable[..., Any]
GO: dict[str, Any] = {"messages": [HumanMessage("go")]}


class Shared(MessagesState):
    ticket: str
    exit_reason: str


class Private(TypedDict, total=False):
    question: str
    answer: str
    messages: list[Any]


async def test_an_agent_takes_what_it_knows_of_a_larger_state(
    run: Any, agents: Agents, around: Any
) -> None:
    graph = around(Shared, ("x", agents("x", "hi")))
    result = await run(graph, {**GO, "ticket": "7", "exit_reason": "before"})
    assert [m.text for m in result["messages"]] == ["go", "hi"]
    assert (result["ticket"], result["exit_reason"]) == ("7", "text")


async def test_agents_in_a_row_share_their_messages(
    run: Any, agents: Agents, echo: Any, around: Any
) -> None:
    graph = around(MessagesState, ("x", agents("x", "one")), ("y", agents("y", echo)))
    result = await run(graph, GO)
    assert result["messages"][-1].text == "go | one"


async def test_a_node_can_give_a_part_of_the_state_and_take_a_part_of_the_result(
    run: Any, agents: Agents, echo: Any, around: Any
) -> None:
    node = agent_node(
        agents("x", echo), input={"messages": "question"}, output={"answer": "exit_reason"}
    )
    result = await run(around(Private, ("x", node)), {"question": "2 + 2?"})
    assert result == {"question": "2 + 2?", "answer": "text"}


async def test_functions_can_make_input_and_update(
    run: Any, agents: Agents, echo: Any, around: Any
) -> None:
    node = agent_node(
        agents("x", echo),
        input=lambda state: {"messages": f"Please: {state['question']}"},
        output=lambda result: {"answer": result["messages"][-1].text.upper()},
    )
    result = await run(around(Private, ("x", node)), {"question": "go"})
    assert result["answer"] == "PLEASE: GO"


async def test_a_function_that_gives_what_is_no_input_is_an_error(
    run: Any, agents: Agents, around: Any
) -> None:
    def to_input(state: Any) -> dict[str, Any]:
        return {"messages": state["question"], "topic": "x"}

    node = agent_node(agents("x", "hi"), input=to_input)
    with pytest.raises(InvalidInputError, match="gives the agent 'topic'"):
        await run(around(Private, ("x", node)), {"question": "go"})


async def test_the_state_around_may_be_a_model(
    run: Any, agents: Agents, echo: Any, around: Any
) -> None:
    class Ask(BaseModel):
        question: str
        answer: str = ""

    def last(result: dict[str, Any]) -> dict[str, Any]:
        return {"answer": result["messages"][-1].text}

    node = agent_node(agents("x", echo), input={"messages": "question"}, output=last)
    assert (await run(around(Ask, ("x", node)), {"question": "go"}))["answer"] == "go"


async def test_an_agent_value_can_be_a_node(run: Any, echo: Any, around: Any) -> None:
    agent = Agent(model=ScriptedChatModel([echo]), name="x")
    result = await run(around(MessagesState, ("x", agent_node(agent))), GO)
    assert result["messages"][-1].text == "go"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"input": {"mesages": "question"}}, "Did you mean 'messages'"),
        ({"output": {"answer": "exit_reasons"}}, "Did you mean 'exit_reason'"),
    ],
)
def test_a_key_that_the_agent_has_not_is_refused(
    agents: Agents, settings: Any, message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        agent_node(agents("x", "hi"), **settings)


async def test_a_key_that_the_state_has_not_is_an_error(
    run: Any, agents: Agents, around: Any
) -> None:
    node = agent_node(agents("x", "hi"), input={"messages": "question"})
    with pytest.raises(InvalidInputError, match="no 'question' for the agent"):
        await run(around(Private, ("x", node)), {"answer": "none"})


async def test_a_hand_over_lets_out_what_the_node_lets_out(
    run: Any, agents: Agents, calling: Calling
) -> None:
    x = agents("x", calling(("transfer_to_y", {})), tools=[handoff_tool("y")])
    node = agent_node(x, input={"messages": "question"}, output={"answer": "exit_reason"})
    graph: Any = StateGraph(Private).add_node("x", node).add_edge(START, "x")

    def keys(state: dict[str, Any]) -> dict[str, Any]:
        return {"question": f"{sorted(state)}"}

    graph.add_node("y", keys)
    result = await run(graph.compile(), {"question": "go"})
    assert result == {"question": "['answer', 'question']", "answer": "transfer_to_y"}


@pytest.mark.parametrize("wrapped", [True, False], ids=["agent_node", "plain"])
async def test_streams_name_the_node(agents: Agents, wrapped: bool, around: Any) -> None:
    x = agents("x", "one two")
    graph = around(MessagesState, ("front", agent_node(x) if wrapped else x))
    chunks = list(graph.stream(GO, subgraphs=True, stream_mode="updates"))
    assert [(p[0].split(":")[0] if p else "", next(iter(u))) for p, u in chunks] == [
        ("front", "model"), ("", "front"),
    ]  # fmt: skip
    stream = graph.astream(GO, stream_mode="messages", subgraphs=True)
    assert {path[0].split(":")[0] async for path, _ in stream} == {"front"}
