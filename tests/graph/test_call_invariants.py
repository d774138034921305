"""What holds for every tool call: its result, its approval, and the context it sees."""

from __future__ import annotations

import asyncio
import threading
from typing import Annotated, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from interlock.graph import AgentGraph, AgentState, create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import AgentMiddleware, HumanInTheLoopMiddleware
from interlock.state import merge_lists
from interlock.state.approval_errors import InvalidDecisionError, NotWaitingError
from interlock.tools import ToolRuntime, tool

LIMIT = 4
THREAD: Any = {"configurable": {"thread_id": "t"}}
GO: Any = {"messages": [HumanMessage("go", id="go")]}

quick = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])


class Kept(AgentState[Any]):
    items: Annotated[list[str], merge_lists]


@given(order=st.permutations(range(4)), durable=st.booleans(), awaited=st.booleans())
@quick
def test_5_results_are_merged_in_call_order_whoever_is_first(
    order: list[int], durable: bool, awaited: bool
) -> None:
    done = [threading.Event() for _ in order]

    @tool
    def work(number: int) -> Command[Any]:
        """Wait for those who are to be first."""
        before = order[: order.index(number)]
        for other in before:
            assert done[other].wait(10)
        done[number].set()
        return Command(update={"items": [str(number)]})

    calls: Any = [{"name": "work", "args": {"number": n}, "id": f"c{n}"} for n in range(4)]
    model = ScriptedChatModel([AIMessage("", tool_calls=calls), "done"])
    options: Any = {"checkpointer": InMemorySaver()} if durable else {}
    agent = create_agent(model, [work], state_schema=Kept, **options)
    result = asyncio.run(agent.ainvoke(GO, THREAD)) if awaited else agent.invoke(GO, THREAD)
    assert result["items"] == ["0", "1", "2", "3"]
    answers = [m.tool_call_id for m in result["messages"] if isinstance(m, ToolMessage)]
    assert answers == ["c0", "c1", "c2", "c3"]


DECISIONS = ["approve", "reject", "edit", "respond", "yes", "APPROVE", "", None]


def decision(kind: Any, number: int) -> dict[str, Any]:
    made: dict[str, Any] = {"type": kind}
    if kind == "edit":
        made["edited_action"] = {"name": "send", "args": {"to": f"edited {number}"}}
    if kind in ("reject", "respond"):
        made["message"] = "because"
    return made


def office(count: int) -> tuple[AgentGraph, list[str]]:
    """An agent whose calls of one tool all wait for approval, and what it sent."""
    sent: list[str] = []

    @tool
    def send(to: str) -> str:
        """Send."""
        sent.append(to)
        return f"sent to {to}"

    calls: Any = [{"name": "send", "args": {"to": str(n)}, "id": f"c{n}"} for n in range(count)]
    model = ScriptedChatModel([AIMessage("", tool_calls=calls), "done"])
    allowed: Any = {"allowed_decisions": ["approve", "edit", "reject", "respond"]}
    review = HumanInTheLoopMiddleware({"send": allowed})
    return create_agent(model, [send], middleware=[review], checkpointer=InMemorySaver()), sent


@given(
    kinds=st.lists(st.sampled_from(DECISIONS), min_size=1, max_size=4),
    data=st.data(),
)
@quick
def test_6_and_8_each_call_runs_by_its_own_decision_or_not_at_all(
    kinds: list[Any], data: st.DataObject
) -> None:
    agent, sent = office(len(kinds))
    agent.invoke(GO, THREAD)
    assert [p.id for p in agent.pending(THREAD)] == [f"c{n}" for n in range(len(kinds))]
    order = data.draw(st.permutations(range(len(kinds))))
    decisions = {f"c{n}": decision(kinds[n], n) for n in order}
    if any(kind not in DECISIONS[:4] for kind in kinds):
        with pytest.raises(InvalidDecisionError):
            agent.answer(decisions, THREAD)
        assert sent == []
        return
    result = agent.answer(decisions, THREAD)
    expected = {"approve": "{}", "edit": "edited {}"}
    ran = [expected[k].format(n) for n, k in enumerate(kinds) if k in expected]
    assert sorted(sent) == sorted(ran)
    answers = {m.tool_call_id: m for m in result["messages"] if isinstance(m, ToolMessage)}
    for number, kind in enumerate(kinds):
        assert ("sent to" in answers[f"c{number}"].text) == (kind in expected)


@given(count=st.integers(1, 3), other=st.sampled_from(["c9", "c", "send", "", "C0"]))
@quick
def test_6_a_decision_for_another_id_is_for_nobody(count: int, other: str) -> None:
    agent, sent = office(count)
    agent.invoke(GO, THREAD)
    with pytest.raises(NotWaitingError):
        agent.answer({other: {"type": "approve"}}, THREAD)
    assert sent == []


def looks(count: int, **fields: Any) -> AIMessage:
    """A reply that calls ``look``."""
    calls: Any = [{"name": "look", "args": {"item": "x"}, "id": f"c{n}"} for n in range(count)]
    return AIMessage("", tool_calls=calls, **fields)


UNREADABLE: Any = {
    "name": "look",
    "args": "{",
    "id": "x",
    "error": "cut",
    "type": "invalid_tool_call",
}
REPLIES = [
    looks(1),
    looks(3),
    looks(2, response_metadata={"finish_reason": "length"}),
    AIMessage("hello"),
    AIMessage(""),
    AIMessage("", invalid_tool_calls=[UNREADABLE]),
]


@given(
    script=st.lists(st.sampled_from(REPLIES), max_size=5),
    mark=st.text("abcdefghij", min_size=12, max_size=12),
)
@quick
def test_9_nothing_of_the_context_is_stored(script: list[AIMessage], mark: str) -> None:
    """The context holds what cannot be stored, too: a lock."""
    seen: list[str] = []

    @tool
    def look(item: str, runtime: ToolRuntime[Any, Any]) -> str:
        """Look into the context."""
        seen.append(runtime.context["mark"])
        return item

    class Looks(AgentMiddleware[Any, Any, Any]):
        def before_model(self, state: Any, runtime: Any) -> None:  # noqa: ARG002
            seen.append(runtime.context["mark"])

    saver = InMemorySaver()
    model = ScriptedChatModel([*script, "done"], repeat_last=True)
    agent = create_agent(
        model, [look], middleware=[Looks()], checkpointer=saver, max_agent_steps=LIMIT
    )
    agent.invoke(GO, THREAD, context={"mark": mark, "lock": threading.Lock()})
    assert set(seen) == {mark}
    assert mark not in repr((saver.storage, saver.writes, saver.blobs))
