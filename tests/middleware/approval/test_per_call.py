"""One pause per call: each call runs when its own answer comes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.types import Command

from interlock.middleware import (
    InvalidDecisionError,
)

Run = Callable[..., Awaitable[dict[str, Any]]]
Calling = Callable[..., AIMessage]
Texts = Callable[[dict[str, Any]], dict[str, str]]

THREAD: dict[str, Any] = {"configurable": {"thread_id": "t"}}
GO: dict[str, Any] = {"messages": [HumanMessage("go")]}
APPROVE = {"type": "approve"}
REJECT = {"type": "reject"}


def answer(*decisions: Any) -> Command[Any]:
    return Command(resume={"decisions": list(decisions)})


def edit(name: str, **args: Any) -> dict[str, Any]:
    return {"type": "edit", "edited_action": {"name": name, "args": args}}


async def test_per_call_asks_for_each_call_and_runs_it_when_it_is_answered(
    desk: Any, run: Run, calling: Calling
) -> None:
    reply = calling(("send", {"to": "a"}), ("send", {"to": "b"}), ("burn", {"what": "x"}))
    agent = desk.agent(reply, interrupt_mode="per_call")
    pauses = (await run(agent, GO, THREAD))["__interrupt__"]
    assert desk.did == ["burn x"]
    first, second = sorted(pauses, key=lambda p: p.value["tool_call_id"])

    await run(agent, Command(resume={second.id: APPROVE}), THREAD)
    assert desk.did == ["burn x", "send b x1"]
    await run(agent, Command(resume={first.id: APPROVE}), THREAD)
    assert desk.did == ["burn x", "send b x1", "send a x1"]


async def test_per_call_edit_may_raise_a_second_question(
    desk: Any, run: Run, calling: Calling
) -> None:
    agent = desk.agent(
        calling(("send", {"to": "a"})),
        interrupt_on={"send": True, "burn": True},
        interrupt_mode="per_call",
        allow_tool_change=True,
    )
    (pause,) = (await run(agent, GO, THREAD))["__interrupt__"]
    change: Command[Any] = Command(resume={pause.id: edit("burn", what="a")})
    (pause,) = (await run(agent, change, THREAD))["__interrupt__"]
    assert pause.value["name"] == "burn"
    await run(agent, Command(resume={pause.id: APPROVE}), THREAD)
    assert desk.did == ["burn a"]


async def test_per_call_wrong_answer_among_several_runs_none_of_them(
    desk: Any, run: Run, calling: Calling
) -> None:
    reply = calling(("send", {"to": "a"}), ("send", {"to": "b"}))
    agent = desk.agent(reply, interrupt_mode="per_call")
    first, second = (await run(agent, GO, THREAD))["__interrupt__"]
    with pytest.raises(InvalidDecisionError, match=second.id):
        await run(agent, Command(resume={first.id: APPROVE, second.id: {"type": "no"}}), THREAD)
    assert desk.did == []
