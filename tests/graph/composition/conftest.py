"""What tests of composed agents share: agents by script, and graphs around them."""

from __future__ import annotations

from collections.abc import Callable
from operator import add
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import BaseTool, tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt

from interlock.graph import AgentGraph, create_agent
from interlock.graph.models import ScriptedChatModel

Agents = Callable[..., AgentGraph]


@pytest.fixture
def agents() -> Agents:
    """``agents("name", reply, ..., tools=[...], **settings)``: an agent with this script."""

    def make(name: str, *replies: Any, tools: Any = (), **settings: Any) -> AgentGraph:
        model = ScriptedChatModel(list(replies), repeat_last=bool(replies))
        return create_agent(model, tools, name=name, **settings)

    return make


@pytest.fixture
def used() -> Callable[..., AIMessage]:
    """``used("text", 3, 4)``: a reply that says what it cost."""

    def make(text: str, tokens_in: int, tokens_out: int, **fields: Any) -> AIMessage:
        usage: Any = {
            "input_tokens": tokens_in,
            "output_tokens": tokens_out,
            "total_tokens": tokens_in + tokens_out,
        }
        return AIMessage(text, usage_metadata=usage, **fields)

    return make


@pytest.fixture
def log() -> list[str]:
    """What the tools of a test did."""
    return []


@pytest.fixture
def office(log: list[str]) -> dict[str, BaseTool]:
    """``look`` notes that it ran, ``ask`` asks a person and notes the answer."""

    @tool
    def look(what: str) -> str:
        """Look something up."""
        log.append(f"look {what}")
        return f"{what} is fine"

    @tool
    def ask(question: str) -> str:
        """Ask a person."""
        answer = str(interrupt(question))
        log.append(f"{question} {answer}")
        return answer

    return {"look": look, "ask": ask}


@pytest.fixture
def echo() -> Callable[[list[BaseMessage]], str]:
    """A step of a script that says what the model was sent."""
    return lambda messages: " | ".join(m.text for m in messages)


@pytest.fixture
def around() -> Callable[..., Any]:
    """``around(schema, ("x", node), ...)``: a graph of these nodes, one after the other."""

    def make(schema: Any, *nodes: tuple[str, Any], **options: Any) -> Any:
        graph: Any = StateGraph(schema)
        last = START
        for name, node in nodes:
            graph.add_node(name, node)
            graph.add_edge(last, name)
            last = name
        return graph.compile(**options)

    return make


class TeamState(MessagesState):
    ticket: str
    exit_reason: str
    notes: Annotated[list[str], add]


@pytest.fixture
def team() -> Callable[..., Any]:
    """``team(agent, ..., y=node)``: a graph of these nodes that begins with the first one."""

    def make(*agents: AgentGraph, checkpointer: Any = None, **nodes: Any) -> Any:
        graph: Any = StateGraph(TeamState)
        for name, node in {**{str(agent.name): agent for agent in agents}, **nodes}.items():
            graph.add_node(name, node)
        return graph.add_edge(START, agents[0].name).compile(checkpointer=checkpointer)

    return make


@pytest.fixture
def sent() -> list[list[BaseMessage]]:
    """What the model of ``peer`` was sent."""
    return []


@pytest.fixture
def peer(agents: Agents, sent: list[list[BaseMessage]]) -> AgentGraph:
    """An agent ``y``."""

    def reply(messages: list[BaseMessage]) -> str:
        sent.append(messages)
        return "y is here"

    return agents("y", reply)
