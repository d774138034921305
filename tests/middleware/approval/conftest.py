"""What tests of approvals share: tools that keep what they did, and agents that review them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from interlock.graph import AgentGraph, create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import HumanInTheLoopMiddleware

THREAD: dict[str, Any] = {"configurable": {"thread_id": "t"}}


@dataclass
class Desk:
    """Two tools, and what they did."""

    did: list[str] = field(default_factory=list[str])

    @property
    def tools(self) -> list[BaseTool]:
        @tool
        def send(to: str, copies: int = 1) -> str:
            """Send a letter."""
            self.did.append(f"send {to} x{copies}")
            return f"sent to {to}"

        @tool
        def burn(what: str) -> str:
            """Burn something."""
            self.did.append(f"burn {what}")
            return f"burnt {what}"

        return [send, burn]

    def agent(self, *replies: Any, around: Any = (), **settings: Any) -> AgentGraph:
        """An agent that gives these replies and a last one, with a review of ``send``."""
        on = settings.pop("interrupt_on", {"send": True})
        review = HumanInTheLoopMiddleware(on, **settings)
        return self.agent_with([review, *around], *replies, checkpointer=InMemorySaver())

    def agent_with(self, middleware: Any, *replies: Any, **settings: Any) -> AgentGraph:
        """An agent with this middleware."""
        model = ScriptedChatModel([*replies, "done"])
        return create_agent(model, self.tools, middleware=middleware, **settings)


@pytest.fixture(params=["invoke", "ainvoke"])
def run(request: pytest.FixtureRequest) -> Callable[..., Awaitable[dict[str, Any]]]:
    """``await run(agent, input, config, **options)``: the result of a run, in each mode."""

    async def go(agent: AgentGraph, value: Any, config: Any = None, **options: Any) -> Any:
        if request.param == "invoke":
            return agent.invoke(value, config, **options)
        return await agent.ainvoke(value, config, **options)

    return go


Run = Callable[..., Awaitable[dict[str, Any]]]


@pytest.fixture
def begin(run: Run) -> Run:
    """``await begin(agent)``: the result of a run in thread ``t``, up to its first pause."""

    async def go(agent: AgentGraph) -> dict[str, Any]:
        return await run(agent, {"messages": [HumanMessage("go")]}, THREAD)

    return go


@pytest.fixture
def decide(run: Run) -> Run:
    """``await decide(agent, decision, ...)``: how the thread goes on, in LangChain's notation."""

    async def go(agent: AgentGraph, *decisions: Any) -> dict[str, Any]:
        return await run(agent, Command(resume={"decisions": list(decisions)}), THREAD)

    return go


@pytest.fixture
def edit() -> Callable[..., dict[str, Any]]:
    """``edit("tool", name=value)``: a decision to run this instead."""

    def make(name: str, **args: Any) -> dict[str, Any]:
        return {"type": "edit", "edited_action": {"name": name, "args": args}}

    return make


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def texts() -> Callable[[dict[str, Any]], dict[str, str]]:
    """``texts(result)``: the text of each tool result by call id."""

    def read(result: dict[str, Any]) -> dict[str, str]:
        return {m.tool_call_id: m.text for m in result["messages"] if isinstance(m, ToolMessage)}

    return read
