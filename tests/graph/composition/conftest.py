"""What tests of composed agents share: agents by script."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import BaseTool, tool
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
