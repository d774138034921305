"""Any calls, rules and answers, in any order, with a new process between any two steps."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver

from interlock.graph import answer, create_agent, pending
from interlock.graph.approvals import open_threads
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import (
    ApprovalMiddleware,
    AskOncePolicy,
    HumanInTheLoopMiddleware,
    HumanInTheLoopStrategy,
    InvalidDecisionError,
    NotWaitingError,
    PendingApproval,
    ToolCallRequest,
)

pytestmark = pytest.mark.slow  # many runs on SQLite and PostgreSQL

Mode = Literal["batched", "per_call", "strategies"]
Kind = Literal["approve", "edit", "reject", "respond"]
GO: dict[str, Any] = {"messages": [HumanMessage("go")]}


@dataclass(frozen=True)
class Call:
    tool: Literal["gated", "risky", "once", "free"]
    value: int
    kind: Kind
    """What the person says, if asked."""


@dataclass(frozen=True)
class Plan:
    """A run: the calls of each reply, and how the person goes about answering."""

    mode: Mode
    turns: Sequence[Sequence[Call]]
    shares: Sequence[int]
    """How many of the waiting calls each answer is about; the last one is about all of them."""
    picks: Sequence[int]
    """Which of the waiting calls comes first."""
    slips: Sequence[bool]
    """Whether a wrong answer comes before the right one."""

    def decision(self, ident: str) -> dict[str, Any]:
        turn, number = map(int, ident[1:].split("-"))
        call = self.turns[turn][number]
        if call.kind == "edit":
            args = {"value": call.value + 100}
            return {"type": "edit", "edited_action": {"name": call.tool, "args": args}}
        return {"type": call.kind, "message": f"{call.kind} of {ident}"}


def plans() -> st.SearchStrategy[Plan]:
    calls = st.builds(
        Call,
        st.sampled_from(["gated", "risky", "once", "free"]),
        st.integers(0, 2),
        st.sampled_from(["approve", "edit", "reject", "respond"]),
    )
    turns = st.lists(st.lists(calls, min_size=1, max_size=4), min_size=1, max_size=2)

    def some(values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
        return st.lists(values, min_size=1, max_size=6)

    return st.builds(
        Plan,
        st.sampled_from(["batched", "per_call", "strategies"]),
        turns,
        some(st.integers(1, 4)),
        some(st.integers(0, 3)),
        some(st.booleans()),
    )


def tools(ran: list[tuple[str, int]]) -> list[BaseTool]:
    def make(name: str) -> BaseTool:
        def work(value: int) -> str:
            """Work."""
            ran.append((name, value))
            return f"{name} did {value}"

        return tool(name)(work)

    return [make(name) for name in ("gated", "risky", "once", "free")]


def is_risky(request: ToolCallRequest) -> bool:
    return bool(request.tool_call["args"]["value"] > 0)


def review(mode: Mode) -> Any:
    if mode == "strategies":
        pause = HumanInTheLoopStrategy()
        once = HumanInTheLoopStrategy(confirmation_policy=AskOncePolicy())
        return ApprovalMiddleware({("gated", "risky"): pause, "once": once})
    everything = ["approve", "edit", "reject", "respond"]
    rules: Any = {
        "gated": True,
        "once": True,
        "risky": {"allowed_decisions": everything, "when": is_risky},
    }
    return HumanInTheLoopMiddleware(rules, interrupt_mode=mode)


def build(plan: Plan, ran: list[tuple[str, int]], saver: Any) -> Any:
    """The agent, as a new process builds it: its model reads off the history what comes next."""

    def reply(messages: list[BaseMessage]) -> AIMessage:
        turn = sum(isinstance(m, AIMessage) for m in messages)
        calls = plan.turns[turn] if turn < len(plan.turns) else ()
        tool_calls = [
            {"name": c.tool, "args": {"value": c.value}, "id": f"c{turn}-{n}", "type": "tool_call"}
            for n, c in enumerate(calls)
        ]
        return AIMessage("" if calls else "done", tool_calls=tool_calls)

    model = ScriptedChatModel([reply], repeat_last=True)
    return create_agent(model, tools(ran), middleware=[review(plan.mode)], checkpointer=saver)


Step = Callable[[Callable[[Any], Any]], Any]
"""Calls a function with an agent and returns its result."""


def run_through(
    plan: Plan, step: Step, thread: Any, listed: Callable[[], Any] | None = None
) -> dict[str, Any]:
    """Run to the end; each step gets an agent of its own.

    ``listed`` is what the database alone says that waits.
    """
    result: dict[str, Any] = step(lambda agent: agent.invoke(GO, thread))
    rounds = 0
    while waiting := step(partial(pending, config=thread)):
        assert listed is None or listed() == waiting
        share = plan.shares[rounds] if rounds < len(plan.shares) else len(waiting)
        first = plan.picks[rounds % len(plan.picks)] % len(waiting)
        chosen = [*waiting[first:], *waiting[:first]][:share]
        if plan.slips[rounds % len(plan.slips)]:
            with pytest.raises(InvalidDecisionError):
                step(partial(answer, decisions={chosen[0].id: {"type": "aprove"}}, config=thread))
        decisions = {p.id: plan.decision(p.id) for p in chosen}
        result = step(partial(answer, decisions=decisions, config=thread))
        with pytest.raises(NotWaitingError):
            step(partial(answer, decisions=decisions, config=thread))
        rounds += 1
    return result


def story(result: Mapping[str, Any]) -> list[Any]:
    """A run without what differs from run to run."""
    told: list[Any] = [
        (m.type, m.text, getattr(m, "tool_call_id", None), getattr(m, "status", None))
        for m in result["messages"]
    ]
    return [*told, *(result[key] for key in ("exit_reason", "step_count", "tool_call_counts"))]


def expected_runs(plan: Plan) -> Counter[tuple[str, int]]:
    """What may run: asked calls as they were decided, the others as they were made."""
    runs: Counter[tuple[str, int]] = Counter()
    confirmed: set[int] = set()
    for turn in plan.turns:
        known = set(confirmed)
        for call in turn:
            when = plan.mode == "strategies" or call.value > 0
            free = call.tool == "free" or (call.tool == "risky" and not when)
            if plan.mode == "strategies" and call.tool == "once":
                free = call.value in known
            if free or call.kind == "approve":
                runs[call.tool, call.value] += 1
                confirmed |= {call.value} if call.tool == "once" else set()
            elif call.kind == "edit":
                runs[call.tool, call.value + 100] += 1
    return runs


@settings(
    max_examples=15,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(plan=plans())
def test_approved_calls_run_once_and_the_result_is_that_of_an_uninterrupted_run(
    plan: Plan, store: Any, assert_valid: Any
) -> None:
    thread = {"configurable": {"thread_id": str(uuid.uuid4())}}
    ran: list[tuple[str, int]] = []

    def anew(function: Callable[[Any], Any]) -> Any:
        with store() as saver:
            return function(build(plan, ran, saver))

    def listed() -> list[PendingApproval]:
        ident = thread["configurable"]["thread_id"]
        return [p for found in open_threads(store.database).waiting(ident) for p in found.approvals]

    result = run_through(plan, anew, thread, listed)
    assert listed() == []
    assert Counter(ran) == expected_runs(plan)
    assert_valid(result["messages"])

    at_once = Plan(plan.mode, plan.turns, [4], [0], [False])
    agent = build(at_once, [], InMemorySaver())

    def same(function: Callable[[Any], Any]) -> Any:
        return function(agent)

    reference = run_through(at_once, same, thread)
    assert story(result) == story(reference)
    answered = {m.tool_call_id for m in result["messages"] if isinstance(m, ToolMessage)}
    assert len(answered) == sum(map(len, plan.turns))
