"""A run that failed after the answer came: what was decided stays decided."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from interlock.graph import AgentGraph, create_agent, pending
from interlock.graph.approvals import open_threads
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import HumanInTheLoopMiddleware, NotWaitingError

Calling = Callable[..., AIMessage]
Store = Any

GO: dict[str, Any] = {"messages": [HumanMessage("go")]}
APPROVE = {"type": "approve"}
REJECT = {"type": "reject"}


@dataclass
class Bank:
    """A tool that fails as often as it is told to, and keeps its attempts."""

    failures: int = 1
    tried: list[str] = field(default_factory=list[str])

    @property
    def pay(self) -> BaseTool:
        @tool
        def pay(whom: str) -> str:
            """Pay somebody."""
            self.tried.append(whom)
            if whom == "bad" and self.failures:
                self.failures -= 1
                msg = "the bank is closed"
                raise RuntimeError(msg)
            sure = interrupt("sure?") if whom == "asks" else "yes"
            return f"paid {whom}: {sure}"

        return pay

    def agent(
        self, *replies: Any, saver: Any, tools: Any = (), mode: Any = "per_call"
    ) -> AgentGraph:
        review = HumanInTheLoopMiddleware({"pay": True}, interrupt_mode=mode)
        return create_agent(
            ScriptedChatModel([*replies, "done"]),
            [self.pay, *tools],
            middleware=[review],
            checkpointer=saver,
            on_tool_error="raise",
        )


@pytest.fixture
def bank() -> Bank:
    return Bank()


async def fail(say: Any, agent: AgentGraph, ident: str, thread: Any) -> None:
    with pytest.raises(RuntimeError, match="closed"):
        await say(agent, {ident: APPROVE}, thread)


async def test_rejection_after_a_failed_approval_is_refused_and_nothing_runs(
    bank: Bank, calling: Calling, thread: Any, say: Any, listing: Any
) -> None:
    reply = calling(("pay", {"whom": "bad"}), ("pay", {"whom": "good"}))
    agent = bank.agent(reply, saver=InMemorySaver())
    agent.invoke(GO, thread)
    first = pending(agent, thread)[0]
    await fail(say, agent, "c1", thread)
    assert [p.id for p in await listing(agent, thread)] == ["c2"]
    for ident in ("c1", first.full_id):
        with pytest.raises(NotWaitingError):
            await say(agent, {ident: REJECT}, thread)
    assert bank.tried == ["bad"]


async def test_plain_resume_after_a_failed_approval_is_refused(
    bank: Bank, calling: Calling, thread: Any, say: Any, run: Any
) -> None:
    agent = bank.agent(calling(("pay", {"whom": "bad"})), saver=InMemorySaver())
    agent.invoke(GO, thread)
    ident = pending(agent, thread)[0].interrupt_id
    await fail(say, agent, "c1", thread)
    for resume in (REJECT, {ident: REJECT}):
        with pytest.raises(NotWaitingError):
            await run(agent, Command(resume=resume), thread)
    assert bank.tried == ["bad"]


async def test_thread_goes_on_with_the_answer_that_it_has(
    bank: Bank, calling: Calling, thread: Any, say: Any, run: Any
) -> None:
    agent = bank.agent(calling(("pay", {"whom": "bad"})), saver=InMemorySaver())
    agent.invoke(GO, thread)
    await fail(say, agent, "c1", thread)
    result = await run(agent, None, thread)
    assert (bank.tried, result["messages"][-1].text) == (["bad", "bad"], "done")


async def test_next_question_of_a_call_that_failed_before_waits(
    bank: Bank, calling: Calling, thread: Any, say: Any
) -> None:
    @tool
    def ask(what: str) -> str:
        """Ask twice, and fail in between."""
        first = interrupt(f"{what} 1?")
        if bank.failures:
            bank.failures -= 1
            msg = "the bank is closed"
            raise RuntimeError(msg)
        return f"{first}, {interrupt(f'{what} 2?')}"

    agent = bank.agent(calling(("ask", {"what": "red"})), saver=InMemorySaver(), tools=[ask])
    agent.invoke(GO, thread)
    with pytest.raises(RuntimeError, match="closed"):
        await say(agent, {pending(agent, thread)[0].id: "a"}, thread)
    assert pending(agent, thread) == []
    agent.invoke(None, thread)
    (second,) = pending(agent, thread)
    assert second.value == "red 2?"
    result = await say(agent, {second.id: "b"}, thread)
    assert result["messages"][-2].text == "a, b"


async def test_answered_question_of_an_agent_in_a_tool_is_not_asked_again(
    bank: Bank, calling: Calling, thread: Any, say: Any
) -> None:
    inner = bank.agent(calling(("pay", {"whom": "bad"})), saver=None)

    @tool
    def delegate(task: str) -> str:
        """Let another agent do it."""
        return str(inner.invoke({"messages": [task]})["messages"][-1].text)

    reply = calling(("delegate", {"task": "pay"}), start=7)
    agent = create_agent(
        ScriptedChatModel([reply, "done"]),
        [delegate],
        checkpointer=InMemorySaver(),
        on_tool_error="raise",
    )
    agent.invoke(GO, thread)
    assert [p.id for p in pending(agent, thread)] == ["c1"]
    await fail(say, agent, "c1", thread)
    assert pending(agent, thread) == []
    with pytest.raises(NotWaitingError):
        await say(agent, {"c1": REJECT}, thread)
    assert bank.tried == ["bad"]


def test_database_alone_knows_what_was_answered(bank: Bank, calling: Calling, store: Store) -> None:
    thread: Any = {"configurable": {"thread_id": str(uuid.uuid4())}}
    ident = thread["configurable"]["thread_id"]
    with store() as saver:
        database = open_threads(store.database)
        reply = calling(("pay", {"whom": "bad"}), ("pay", {"whom": "asks"}))
        agent = bank.agent(reply, saver=saver)
        agent.invoke(GO, thread)
        for failing, left in (("c1", ["c2"]), ("c2", None)):
            with suppress(RuntimeError):
                agent.answer({failing: APPROVE}, thread)
            known = agent.pending(thread)
            (listed,) = database.waiting(ident)
            assert list(listed.approvals) == known
            assert left is None or [p.id for p in known] == left
        assert [p.value for p in known] == ["sure?"]
        agent.answer({known[0].id: "yes"}, thread)
        assert list(database.waiting(ident)) == []
