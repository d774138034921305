"""What tests of the graph share: runs in both modes, threads, a check of histories."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

import pytest
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

from interlock.graph import AgentGraph, create_agent
from interlock.graph.models import ScriptedChatModel

Run = Callable[..., Awaitable[dict[str, Any]]]


@pytest.fixture(params=["invoke", "ainvoke"])
def run(request: pytest.FixtureRequest) -> Run:
    """``await run(agent, input, config, **options)``: the result of a run, in each mode."""

    async def go(
        agent: AgentGraph, value: Any, config: Any = None, **options: Any
    ) -> dict[str, Any]:
        if request.param == "invoke":
            return cast("dict[str, Any]", agent.invoke(value, config, **options))
        return cast("dict[str, Any]", await agent.ainvoke(value, config, **options))

    return go


@pytest.fixture(scope="session")
def calling() -> Callable[..., AIMessage]:
    """``calling(("name", {...}), ...)``: a reply that calls tools, as ``c1``, ``c2``, ..."""

    def make(*calls: tuple[str, dict[str, Any]], text: str = "", start: int = 1) -> AIMessage:
        tool_calls = [
            {"name": name, "args": args, "id": f"c{number}", "type": "tool_call"}
            for number, (name, args) in enumerate(calls, start)
        ]
        return AIMessage(text, tool_calls=tool_calls)

    return make


@pytest.fixture
def thread() -> dict[str, Any]:
    """A config that names a thread."""
    return {"configurable": {"thread_id": "t"}}


@pytest.fixture(params=[True, False], ids=["stored", "not stored"])
def stored(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Settings of an agent or a graph with and without a checkpointer."""
    return {"checkpointer": InMemorySaver()} if request.param else {}


@pytest.fixture(scope="session")
def assert_valid() -> Callable[[Sequence[BaseMessage]], None]:
    """Fails unless every call is answered exactly once, right after its message."""

    def check(messages: Sequence[BaseMessage]) -> None:
        waiting: list[str] = []
        for message in messages:
            if isinstance(message, ToolMessage):
                assert message.tool_call_id in waiting, f"{message!r} answers no open call"
                waiting.remove(message.tool_call_id)
                continue
            assert not waiting, f"{message!r} stands before the results of {waiting}"
            if isinstance(message, AIMessage):
                calls = [*message.tool_calls, *message.invalid_tool_calls]
                waiting = [cast("str", call["id"]) for call in calls]
                assert len(set(waiting)) == len(waiting), f"{message!r} repeats an id"
        assert not waiting, f"the history ends before the results of {waiting}"

    return check


@pytest.fixture(scope="session")
def agent_of(calling: Callable[..., AIMessage]) -> Callable[..., AgentGraph]:
    """``agent_of([tool], ("name", {...}), ..., **settings)``: its model calls ``c0``, ``c1``, ..."""

    def make(tools: Any, *calls: tuple[str, dict[str, Any]], **settings: Any) -> AgentGraph:
        model = ScriptedChatModel([calling(*calls, start=0), "done"])
        return create_agent(model, tools, **settings)

    return make


@pytest.fixture(scope="session")
def results() -> Callable[[dict[str, Any]], dict[str, str]]:
    """``results(result)``: the text of each tool result, by the id of its call."""

    def find(result: dict[str, Any]) -> dict[str, str]:
        return {m.tool_call_id: m.text for m in result["messages"] if isinstance(m, ToolMessage)}

    return find
