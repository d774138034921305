"""Agents together: a supervisor and its helpers, peers that hand over, any replies at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command
from typing_extensions import TypedDict

from interlock.graph import (
    Agent,
    AgentGraph,
    agent_node,
    agent_tool,
    create_agent,
    handoff_tool,
    pending,
)
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import (
    AgentMiddleware,
    HumanInTheLoopMiddleware,
    TokenBudgetMiddleware,
)

Calling = Callable[..., AIMessage]
Agents = Callable[..., AgentGraph]


def said(prefix: str) -> Callable[[list[BaseMessage]], str]:
    return lambda messages: f"{prefix}{messages[-1].text}"


def last_two(messages: list[BaseMessage]) -> str:
    return "; ".join(m.text for m in messages[-2:])


def refund(order: str) -> str:
    """Pay an order back."""
    return f"{order} is paid back"


def stock(item: str) -> str:
    """Tell how many there are."""
    return f"3 of {item}"


@pytest.fixture
def supervisor(agents: Agents, calling: Calling, used: Any) -> AgentGraph:
    """Asks two helpers at the same time; what one of them does needs an approval."""

    def call(name: str, **args: Any) -> Any:
        return used("", 10, 0, tool_calls=calling((name, args)).tool_calls)

    money = agents(
        "money", call("refund", order="B-7"), said("done: "), tools=[refund],
        middleware=[HumanInTheLoopMiddleware({"refund": True})],
    )  # fmt: skip
    shelf = agents("shelf", call("stock", item="lamp"), said("there are "), tools=[stock])
    asks = calling(("money", {"task": "pay B-7 back"}), ("shelf", {"task": "lamps?"}))
    return agents(
        "supervisor", asks, last_two,
        tools=[
            agent_tool(money, description="Pays back."),
            agent_tool(shelf, description="Knows the stock."),
        ],
        checkpointer=InMemorySaver(), middleware=[TokenBudgetMiddleware(1000)],
    )  # fmt: skip


async def test_a_supervisor_answers_from_what_its_helpers_say(
    run: Any, supervisor: AgentGraph, thread: Any, assert_valid: Any
) -> None:
    await run(supervisor, {"messages": "Pay B-7 back. Any lamps?"}, thread)
    assert [(p.tool, dict(p.args)) for p in pending(supervisor, thread)] == [
        ("refund", {"order": "B-7"})
    ]
    result = await run(supervisor, Command(resume={"decisions": [{"type": "approve"}]}), thread)
    assert result["messages"][-1].text == "done: B-7 is paid back; there are 3 of lamp"
    assert_valid(result["messages"])
    assert result["token_usage"]["total_tokens"] == 20
    assert result["tool_call_counts"] == {"money": 1, "shelf": 1}


class Desk(MessagesState):
    active: str


def desk(front: AgentGraph, billing: AgentGraph) -> Any:
    """Two peers; the one that spoke last goes on with the next message."""
    graph: Any = StateGraph(Desk)
    for agent in (front, billing):
        graph.add_node(agent.name, agent_node(agent, output=_leaving(str(agent.name))))
    graph.add_conditional_edges(START, active)
    return graph.compile(checkpointer=InMemorySaver())


def active(state: dict[str, Any]) -> str:
    return str(state.get("active", "front"))


def _leaving(name: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda result: {"messages": result["messages"], "active": name}


async def test_the_peer_that_took_over_answers_the_next_message_too(
    run: Any, agents: Agents, calling: Calling, thread: Any, assert_valid: Any
) -> None:
    front = agents("front", calling(("transfer_to_billing", {})), tools=[handoff_tool("billing")])
    billing = agents("billing", said("b: "), tools=[handoff_tool("front")])
    graph = desk(front, billing)
    await run(graph, {"messages": [HumanMessage("my invoice")]}, thread)
    result = await run(graph, {"messages": [HumanMessage("and now?")]}, thread)
    assert (result["messages"][-1].text, result["active"]) == ("b: and now?", "billing")
    assert_valid(result["messages"])


class Pipeline(TypedDict, total=False):
    question: str
    documents: list[str]
    messages: list[BaseMessage]
    exit_reason: str
    translated: str


async def test_an_agent_is_a_part_of_a_pipeline(run: Any) -> None:
    def retrieve(state: Pipeline) -> Pipeline:
        return {"documents": [f"All about {state.get('question')}"], "messages": []}

    def translate(state: Pipeline) -> Pipeline:
        return {"translated": state.get("messages", [])[-1].text.upper()}

    model = ScriptedChatModel([said("I read: ")])
    agent = Agent(model=model, user_prompt="{{ question }}? {{ documents | join }}", name="agent")
    graph: Any = StateGraph(Pipeline).add_node("retrieve", retrieve).add_edge(START, "retrieve")
    graph.add_node("agent", agent.compile()).add_edge("retrieve", "agent")
    graph.add_node("translate", translate).add_edge("agent", "translate")
    result = await run(graph.compile(), {"question": "lamps"})
    assert result["translated"] == "I READ: LAMPS? ALL ABOUT LAMPS"
    assert result["exit_reason"] == "text"


class Connection(AgentMiddleware[Any, Any, Any]):
    """Notes when it is opened and closed."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def warm_up(self) -> None:
        self.said.append("open")

    def close(self) -> None:
        self.said.append("closed")


async def test_an_agent_in_a_tool_is_warmed_up_and_closed_with_the_one_around() -> None:
    link = Connection()
    inner = Agent(model=ScriptedChatModel(["hi"]), name="inner", middleware=[link])
    boss = Agent(model=ScriptedChatModel(["hi"]), tools=[agent_tool(inner, description="Help.")])
    with boss:
        assert link.said == ["open"]
    async with boss:
        assert link.said == ["open", "closed", "open"]
    assert link.said == ["open", "closed"] * 2


CALLS = st.lists(
    st.sampled_from(["transfer_to_x", "transfer_to_y", "work", "nonsense"]), max_size=3
)


def replies(name: str, plan: Sequence[Sequence[str]]) -> ScriptedChatModel:
    """A script that calls what the plan says, reply by reply, and then answers."""
    steps: list[Any] = [
        AIMessage(
            f"{name}{number}",
            tool_calls=[
                {"name": tool, "args": {}, "id": f"{name}-{number}-{n}", "type": "tool_call"}
                for n, tool in enumerate(names)
            ],
        )
        for number, names in enumerate(plan)
    ]
    return ScriptedChatModel([*steps, "the end"], repeat_last=True)


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(plans=st.tuples(*[st.lists(CALLS.filter(bool), max_size=3)] * 2), durable=st.booleans())
def test_histories_are_valid_whatever_peers_call(
    plans: tuple[list[list[str]], list[list[str]]], durable: bool, assert_valid: Any
) -> None:
    def work() -> str:
        """Work."""
        return "done"

    sent: list[list[list[BaseMessage]]] = []
    graph: Any = StateGraph(MessagesState).add_edge(START, "x")
    for name, plan in zip("xy", plans, strict=True):
        model = replies(name, plan)
        tools: list[Any] = [work, *(handoff_tool(other) for other in "xy")]
        graph.add_node(name, create_agent(model, tools, name=name))
        sent.append(model.requests)
    compiled = graph.compile(checkpointer=InMemorySaver() if durable else None)
    result = compiled.invoke({"messages": "go"}, {"configurable": {"thread_id": "t"}})
    assert_valid(result["messages"])
    for requests in sent:
        for messages in requests:
            assert_valid(messages)
    ids = [m.id for m in result["messages"]]
    assert len(ids) == len(set(ids))
    assert result["messages"][-1].text == "the end"
