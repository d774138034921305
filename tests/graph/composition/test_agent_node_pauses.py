"""An agent as a node that pauses, or remembers: it goes on where it stopped."""

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
from langgraph.graph import MessagesState
from langgraph.types import Command
from pydantic import BaseModel
from typing_extensions import TypedDict

from interlock.graph import (
    AgentState,
    agent_node,
    agent_tool,
    answer,
    pending,
)
from interlock.middleware import AgentMiddleware, HumanInTheLoopMiddleware
from interlock.state import OmitFromOutput

Calling = Callable[..., AIMessage]
Agents = Callable[..., Any]
GO: dict[str, Any] = {"messages": [HumanMessage("go")]}


class Private(TypedDict, total=False):
    question: str
    answer: str
    messages: list[Any]


@pytest.mark.parametrize("wrapped", [True, False], ids=["agent_node", "plain"])
@pytest.mark.parametrize("stored", [None, True])
async def test_an_inner_pause_is_answered_outside_and_nothing_runs_twice(
    run: Any, agents: Agents, calling: Calling, office: Any, log: list[str], thread: Any,
    wrapped: bool, stored: Any, around: Any,
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
    run: Any,
    agents: Agents,
    calling: Calling,
    office: Any,
    log: list[str],
    thread: Any,
    around: Any,
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
    agents: Agents, calling: Calling, office: Any, log: list[str], thread: Any, around: Any
) -> None:
    review = HumanInTheLoopMiddleware({"look": True})
    x = agents("x", calling(("look", {"what": "a"})), "done", tools=[office["look"]], middleware=[review])  # fmt: skip
    graph = around(MessagesState, ("x", agent_node(x)), checkpointer=InMemorySaver())
    graph.invoke(GO, thread)
    assert [(p.tool, p.id) for p in pending(graph, thread)] == [("look", "c1")]
    result = answer(graph, {"c1": {"type": "approve"}}, thread)
    assert (result["messages"][-1].text, log) == ("done", ["look a"])


async def test_a_remembering_node_keeps_a_conversation_of_its_own(
    run: Any, agents: Agents, echo: Any, thread: Any, around: Any
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
    run: Any, agents: Agents, echo: Any, thread: Any, wrapped: bool, around: Any
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


@pytest.mark.parametrize("wrapped", [True, False], ids=["agent_node", "plain"])
def test_the_state_of_the_agent_can_be_read_from_outside(
    agents: Agents, calling: Calling, office: Any, thread: Any, wrapped: bool, around: Any
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
