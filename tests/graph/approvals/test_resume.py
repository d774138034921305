"""Plain ``Command(resume=...)``: kept as it is in LangChain, without its traps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.types import Command

from interlock.graph import pending
from interlock.middleware import (
    InvalidDecisionError,
    NotWaitingError,
)

Calling = Callable[..., AIMessage]
Office = Any

GO: dict[str, Any] = {"messages": [HumanMessage("go")]}
APPROVE = {"type": "approve"}
REJECT = {"type": "reject"}


async def test_bare_answer_that_was_refused_is_not_kept_for_the_next_pause(
    office: Office, calling: Calling, thread: Any, run: Any
) -> None:
    agent = office.agent(calling(("ask", {"question": "name?"})), calling(("send", {"to": "a"})))
    agent.invoke(GO, thread)
    with pytest.raises(NotWaitingError):
        await run(agent, Command(resume={"0" * 32: "x"}), thread)
    await run(agent, Command(resume="Ann"), thread)
    with pytest.raises(InvalidDecisionError):
        await run(agent, Command(resume="yes"), thread)
    assert [p.id for p in pending(agent, thread)] == ["c1"]


async def test_resume_of_a_thread_that_does_not_wait_is_refused(
    office: Office, thread: Any, run: Any
) -> None:
    agent = office.agent()
    agent.invoke(GO, thread)
    with pytest.raises(NotWaitingError, match="does not wait for an answer"):
        await run(agent, Command(resume={"decisions": [APPROVE]}), thread)


async def test_bare_answer_to_several_pauses_is_refused(
    office: Office, calling: Calling, thread: Any, run: Any
) -> None:
    agent = office.agent(calling(("ask", {"question": "a"}), ("ask", {"question": "b"})))
    agent.invoke(GO, thread)
    with pytest.raises(NotWaitingError, match="2 pauses wait"):
        await run(agent, Command(resume="yes"), thread)


async def test_answer_at_a_breakpoint_does_not_become_an_approval(
    office: Office, calling: Calling, thread: Any, run: Any
) -> None:
    agent = office.agent(calling(("send", {"to": "a"})), interrupt_before=["tools"])
    await run(agent, GO, thread)
    with pytest.raises(NotWaitingError, match="breakpoint"):
        await run(agent, Command(resume={"decisions": [APPROVE]}), thread)
    await run(agent, None, thread)
    assert (len(pending(agent, thread)), office.did) == (1, [])


async def test_command_that_holds_nothing_is_refused_in_words(
    office: Office, calling: Calling, thread: Any, run: Any
) -> None:
    agent = office.agent(calling(("send", {"to": "a"})))
    agent.invoke(GO, thread)
    with pytest.raises(InvalidDecisionError, match="holds no answer"):
        await run(agent, Command(resume=None), thread)
    assert ([p.id for p in pending(agent, thread)], office.did) == (["c1"], [])


async def test_stream_takes_answers_too(office: Office, calling: Calling, thread: Any) -> None:
    agent = office.agent(calling(("send", {"to": "a"})))
    agent.invoke(GO, thread)
    with pytest.raises(InvalidDecisionError):
        [c async for c in agent.astream(Command(resume={"decisions": []}), thread)]
    chunks = list(agent.stream(Command(resume={"decisions": [APPROVE]}), thread))
    assert office.did == ["send a"]
    assert chunks
