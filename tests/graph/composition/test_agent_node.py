"""An agent as a node of a larger graph."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NotRequired

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command
from pydantic import BaseModel
from typing_extensions import TypedDict

from interlock.graph import (
    Agent,
    AgentState,
    agent_node,
    agent_tool,
    answer,
    handoff_tool,
    pending,
)
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import AgentMiddleware, HumanInTheLoopMiddleware
from interlock.state import OmitFromOutput
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


def around(schema: Any, *nodes: tuple[str, Any], **options: Any) -> Any:
    """A graph of these nodes, one after the other."""
    graph: Any = StateGraph(schema)
    last = START
    for name, node in nodes:
        graph.add_node(name, node)
        graph.add_edge(last, name)
        last = name
    return graph.compile(**options)


async def test_an_agent_takes_what_it_knows_of_a_larger_state(run: Any, agents: Agents) -> None:
    graph = around(Shared, ("x", agents("x", "hi")))
    result = await run(graph, {**GO, "ticket": "7", "exit_reason": "before"})
    assert [m.text for m in result["messages"]] == ["go", "hi"]
    assert (result["ticket"], result["exit_reason"]) == ("7", "text")


async def test_agents_in_a_row_share_their_messages(run: Any, agents: Agents, echo: Any) -> None:
    graph = around(MessagesState, ("x", agents("x", "one")), ("y", agents("y", echo)))
    result = await run(graph, GO)
    assert result["messages"][-1].text == "go | one"


async def test_a_node_can_give_a_part_of_the_state_and_take_a_part_of_the_result(
    run: Any, agents: Agents, echo: Any
) -> None:
    node = agent_node(
        agents("x", echo), input={"messages": "question"}, output={"answer": "exit_reason"}
    )
    result = await run(around(Private, ("x", node)), {"question": "2 + 2?"})
    assert result == {"question": "2 + 2?", "answer": "text"}


async def test_functions_can_make_input_and_update(run: Any, agents: Agents, echo: Any) -> None:
    node = agent_node(
        agents("x", echo),
        input=lambda state: {"messages": f"Please: {state['question']}"},
        output=lambda result: {"answer": result["messages"][-1].text.upper()},
    )
    result = await run(around(Private, ("x", node)), {"question": "go"})
    assert result["answer"] == "PLEASE: GO"


async def test_a_function_that_gives_what_is_no_input_is_an_error(run: Any, agents: Agents) -> None:
    def to_input(state: Any) -> dict[str, Any]:
        return {"messages": state["question"], "topic": "x"}

    node = agent_node(agents("x", "hi"), input=to_input)
    with pytest.raises(InvalidInputError, match="gives the agent 'topic'"):
        await run(around(Private, ("x", node)), {"question": "go"})


async def test_the_state_around_may_be_a_model(run: Any, agents: Agents, echo: Any) -> None:
    class Ask(BaseModel):
        question: str
        answer: str = ""

    def last(result: dict[str, Any]) -> dict[str, Any]:
        return {"answer": result["messages"][-1].text}

    node = agent_node(agents("x", echo), input={"messages": "question"}, output=last)
    assert (await run(around(Ask, ("x", node)), {"question": "go"}))["answer"] == "go"


async def test_an_agent_value_can_be_a_node(run: Any, echo: Any) -> None:
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


async def test_a_key_that_the_state_has_not_is_an_error(run: Any, agents: Agents) -> None:
    node = agent_node(agents("x", "hi"), input={"messages": "question"})
    with pytest.raises(InvalidInputError, match="no 'question' for the agent"):
        await run(around(Private, ("x", node)), {"answer": "none"})


@pytest.mark.parametrize("wrapped", [True, False], ids=["agent_node", "plain"])
@pytest.mark.parametrize("stored", [None, True])
async def test_an_inner_pause_is_answered_outside_and_nothing_runs_twice(
    run: Any, agents: Agents, calling: Calling, office: Any, log: list[str], thread: Any,
    wrapped: bool, stored: Any,
) -> None:  # fmt: skip
    steps = [calling(("look", {"what": "a"})), calling(("ask", {"question": "q"}), start=2), "done"]
    x = agents("x", *steps, tools=list(office.values()), checkpointer=stored)
    node = agent_node(x) if wrapped else x
    graph = around(MessagesState, ("x", node), checkpointer=InMemorySaver())
    paused = await run(graph, GO, thread)
    assert [i.value for i in paused["__interrupt__"]] == ["q"]
    result = await run(graph, Command(resume="yes"), thread)
    assert (result["messages"][-1].text, log) == ("done", ["look a", "q yes"])


async def test_an_agent_that_stores_nothing_begins_anew_after_a_pause(
    run: Any, agents: Agents, calling: Calling, office: Any, log: list[str], thread: Any
) -> None:
    def reply(messages: list[Any]) -> Any:
        said = sum(m.type == "ai" for m in messages)
        return [calling(("look", {"what": "a"})), calling(("ask", {"question": "q"}), start=2), "done"][said]  # fmt: skip

    x = agents("x", reply, tools=list(office.values()), checkpointer=False)
    graph = around(MessagesState, ("x", x), checkpointer=InMemorySaver())
    await run(graph, GO, thread)
    result = await run(graph, Command(resume="yes"), thread)
    assert (result["messages"][-1].text, log) == ("done", ["look a", "look a", "q yes"])


def test_inner_approvals_are_listed_and_decided_outside(
    agents: Agents, calling: Calling, office: Any, log: list[str], thread: Any
) -> None:
    review = HumanInTheLoopMiddleware({"look": True})
    x = agents("x", calling(("look", {"what": "a"})), "done", tools=[office["look"]], middleware=[review])  # fmt: skip
    graph = around(MessagesState, ("x", agent_node(x)), checkpointer=InMemorySaver())
    graph.invoke(GO, thread)
    assert [(p.tool, p.id) for p in pending(graph, thread)] == [("look", "c1")]
    result = answer(graph, {"c1": {"type": "approve"}}, thread)
    assert (result["messages"][-1].text, log) == ("done", ["look a"])


async def test_a_remembering_node_keeps_a_conversation_of_its_own(
    run: Any, agents: Agents, echo: Any, thread: Any
) -> None:
    node = agent_node(
        agents("x", echo), input={"messages": "question"}, remember=True,
        output=lambda result: {"answer": result["messages"][-1].text},
    )  # fmt: skip
    graph = around(Private, ("x", node), checkpointer=InMemorySaver())
    assert (await run(graph, {"question": "a"}, thread))["answer"] == "a"
    assert (await run(graph, {"question": "b"}, thread))["answer"] == "a | a | b"


@pytest.mark.parametrize("wrapped", [True, False], ids=["agent_node", "plain"])
async def test_a_remembering_node_after_a_breakpoint_is_not_taken_for_its_last_run(
    run: Any, agents: Agents, echo: Any, thread: Any, wrapped: bool
) -> None:
    x = agents("x", echo, checkpointer=True)
    options: Any = {"checkpointer": InMemorySaver(), "interrupt_before": ["x"]}
    graph = around(MessagesState, ("x", agent_node(x) if wrapped else x), **options)
    results: list[Any] = []
    for text in "ab":
        await run(graph, {"messages": [HumanMessage(text)]}, thread)
        results.append(await run(graph, None, thread))
    assert [m.text for m in results[1]["messages"]] == ["a", "a", "b", "a | a | b"]


class Order(BaseModel):
    number: int


class OrderState(AgentState[Any]):
    order: NotRequired[Annotated[Order, OmitFromOutput]]


async def test_types_that_only_the_inner_agent_declares_survive_a_pause(
    run: Any, agents: Agents, calling: Calling, office: Any, thread: Any
) -> None:
    seen: list[Any] = []

    class Watch(AgentMiddleware[Any, Any, Any]):
        def after_agent(self, state: Any, runtime: Any) -> None:
            del runtime
            seen.append(state["order"])

    def fill() -> Command[Any]:
        """Fill."""
        return Command(update={"order": Order(number=3)})

    steps = [calling(("fill", {})), calling(("ask", {"question": "q"}), start=2), "done"]
    inner = agents("inner", *steps, tools=[fill, office["ask"]], state_schema=OrderState, middleware=[Watch()])  # fmt: skip
    boss = agents("boss", calling(("inner", {"task": "t"})), "done", tools=[agent_tool(inner, description="Do.")], checkpointer=InMemorySaver())  # fmt: skip
    await run(boss, GO, thread)
    await run(boss, Command(resume="yes"), thread)
    assert seen == [Order(number=3)]


async def test_an_agent_that_a_tool_runs_by_itself_pauses_in_the_same_thread(
    run: Any, agents: Agents, calling: Calling, office: Any, log: list[str], thread: Any
) -> None:
    inner = agents("inner", calling(("ask", {"question": "q"})), "ok", tools=[office["ask"]])

    def helper() -> str:
        """Help."""
        return str(inner.invoke(GO)["messages"][-1].text)

    boss = agents("boss", calling(("helper", {})), "done", tools=[helper], checkpointer=InMemorySaver())  # fmt: skip
    paused = await run(boss, GO, thread)
    assert [i.value for i in paused["__interrupt__"]] == ["q"]
    await run(boss, Command(resume="yes"), thread)
    assert log == ["q yes"]


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
async def test_streams_name_the_node(agents: Agents, wrapped: bool) -> None:
    x = agents("x", "one two")
    graph = around(MessagesState, ("front", agent_node(x) if wrapped else x))
    chunks = list(graph.stream(GO, subgraphs=True, stream_mode="updates"))
    assert [(p[0].split(":")[0] if p else "", next(iter(u))) for p, u in chunks] == [
        ("front", "model"), ("", "front"),
    ]  # fmt: skip
    stream = graph.astream(GO, stream_mode="messages", subgraphs=True)
    assert {path[0].split(":")[0] async for path, _ in stream} == {"front"}


@pytest.mark.parametrize("wrapped", [True, False], ids=["agent_node", "plain"])
def test_the_state_of_the_agent_can_be_read_from_outside(
    agents: Agents, calling: Calling, office: Any, thread: Any, wrapped: bool
) -> None:
    x = agents("x", calling(("ask", {"question": "q"})), tools=[office["ask"]])
    graph = around(MessagesState, ("x", agent_node(x) if wrapped else x), checkpointer=InMemorySaver())  # fmt: skip
    graph.invoke(GO, thread)
    inner = graph.get_state(thread, subgraphs=True).tasks[0].state
    assert [m.type for m in inner.values["messages"]] == ["human", "ai"]


PROGRAM = '''
import json, sys
from langchain_core.messages import AIMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict
from interlock.graph import agent_node, create_agent
from interlock.graph.models import ScriptedChatModel

class S(TypedDict, total=False):
    question: str
    answer: str

def ask() -> str:
    """Ask."""
    return interrupt("sure?")

def reply(messages):
    if messages[-1].type == "tool":
        return " | ".join(m.text for m in messages if m.text)
    return AIMessage("", tool_calls=[{"name": "ask", "args": {}, "id": f"c{len(messages)}", "type": "tool_call"}])

x = create_agent(ScriptedChatModel([reply]), [ask], name="x")
node = agent_node(x, input={"messages": "question"}, output=lambda r: {"answer": r["messages"][-1].text}, remember=True)
config = {"configurable": {"thread_id": "t"}}
with SqliteSaver.from_conn_string(sys.argv[1]) as saver:
    graph = StateGraph(S).add_node("x", node).add_edge(START, "x").compile(checkpointer=saver)
    result = graph.invoke(Command(resume=sys.argv[2]) if graph.get_state(config).next else {"question": sys.argv[2]}, config)
    print(json.dumps(result.get("answer")))
'''


@pytest.mark.slow
def test_a_conversation_of_a_node_goes_on_in_new_processes(tmp_path: Path) -> None:
    def step(text: str) -> Any:
        command = [sys.executable, "-P", "-c", PROGRAM, str(tmp_path / "t.sqlite"), text]
        run = subprocess.run(command, check=True, capture_output=True, cwd=tmp_path, timeout=60)
        return json.loads(run.stdout)

    assert [step("a"), step("yes")] == [None, "a | yes"]
    assert [step("b"), step("no")] == ["a | yes", "a | yes | a | yes | b | no"]
