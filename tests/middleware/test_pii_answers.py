"""What people say in place of tools is redacted before anybody is shown it."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from interlock.graph import AgentGraph, create_agent
from interlock.graph.models.scripted import ScriptedChatModel
from interlock.middleware import HumanInTheLoopMiddleware, PIIDetectionError, PIIMiddleware

THREAD: Any = {"configurable": {"thread_id": "t"}}
SAID = "kim@example.com"
ANSWERS: dict[str, Any] = {
    "respond": {"type": "respond", "message": f"mail {SAID}"},
    "reject": {"type": "reject", "message": f"not {SAID}"},
    "edit": {"type": "edit", "edited_action": {"name": "send", "args": {"to": SAID}}},
}


@tool
def send(to: str) -> str:
    """Send a letter."""
    return f"sent to {to}"


def agent(saver: Any, **options: Any) -> AgentGraph:
    call = {"name": "send", "args": {"to": "x"}, "id": "c1"}
    asks = HumanInTheLoopMiddleware({"send": True})
    pii = PIIMiddleware("email", apply_to_tool_results=True, **options)
    model = ScriptedChatModel([AIMessage("", tool_calls=[call]), "done"])
    return create_agent(model, [send], middleware=[asks, pii], checkpointer=saver)


async def answered(graph: AgentGraph, kind: str, asynchronous: bool, **options: Any) -> list[Any]:
    value: Any = Command(resume={"decisions": [ANSWERS[kind]]})
    if asynchronous:
        await graph.ainvoke({"messages": "x"}, THREAD)
        return [part async for part in graph.astream(value, THREAD, **options)]
    graph.invoke({"messages": "x"}, THREAD)
    return list(graph.stream(value, THREAD, **options))


@pytest.mark.parametrize("kind", list(ANSWERS))
@pytest.mark.parametrize("asynchronous", [False, True])
async def test_no_stream_and_no_checkpoint_shows_what_was_answered(
    kind: str, asynchronous: bool
) -> None:
    graph = agent(InMemorySaver())
    modes = ["updates", "values", "messages", "debug", "tasks", "checkpoints"]

    shown = await answered(graph, kind, asynchronous, stream_mode=modes)

    results = [m for m in graph.get_state(THREAD).values["messages"] if m.type == "tool"]
    assert ["[REDACTED_EMAIL]" in m.text for m in results] == [True]
    assert SAID not in repr(shown)
    assert SAID not in repr([s.values for s in graph.get_state_history(THREAD)])


async def test_values_of_an_answer_are_put_aside() -> None:
    graph = agent(InMemorySaver(), strategy="token")

    shown = await answered(graph, "respond", False, stream_mode="updates")

    assert "mail <email:" in repr(shown)
    assert SAID not in repr(shown)


async def test_blocked_answer_is_stored_nowhere_and_ends_the_run() -> None:
    graph = agent(InMemorySaver(), strategy="block")

    with pytest.raises(PIIDetectionError, match="1 instance"):
        await answered(graph, "respond", False)

    assert SAID not in repr([s.values for s in graph.get_state_history(THREAD)])
    assert graph.invoke({"messages": "go on"}, THREAD)["messages"][-1].text == "done"
