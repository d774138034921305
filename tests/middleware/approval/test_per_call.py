"""One pause per call: each call runs when its own answer comes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.types import Command

from interlock.middleware import (
    InvalidDecisionError,
)

Run = Callable[..., Awaitable[dict[str, Any]]]
Calling = Callable[..., AIMessage]

THREAD: dict[str, Any] = {"configurable": {"thread_id": "t"}}
APPROVE = {"type": "approve"}


async def test_per_call_asks_for_each_call_and_runs_it_when_it_is_answered(
    desk: Any, run: Run, calling: Calling, begin: Run
) -> None:
    reply = calling(("send", {"to": "a"}), ("send", {"to": "b"}), ("burn", {"what": "x"}))
    agent = desk.agent(reply, interrupt_mode="per_call")
    pauses = (await begin(agent))["__interrupt__"]
    assert desk.did == ["burn x"]
    first, second = sorted(pauses, key=lambda p: p.value["tool_call_id"])

    await run(agent, Command(resume={second.id: APPROVE}), THREAD)
    assert desk.did == ["burn x", "send b x1"]
    await run(agent, Command(resume={first.id: APPROVE}), THREAD)
    assert desk.did == ["burn x", "send b x1", "send a x1"]


async def test_per_call_edit_may_raise_a_second_question(
    desk: Any, run: Run, calling: Calling, begin: Run, edit: Any
) -> None:
    agent = desk.agent(
        calling(("send", {"to": "a"})),
        interrupt_on={"send": True, "burn": True},
        interrupt_mode="per_call",
        allow_tool_change=True,
    )
    (pause,) = (await begin(agent))["__interrupt__"]
    change: Command[Any] = Command(resume={pause.id: edit("burn", what="a")})
    (pause,) = (await run(agent, change, THREAD))["__interrupt__"]
    assert pause.value["name"] == "burn"
    await run(agent, Command(resume={pause.id: APPROVE}), THREAD)
    assert desk.did == ["burn a"]


async def test_per_call_wrong_answer_among_several_runs_none_of_them(
    desk: Any, run: Run, calling: Calling, begin: Run
) -> None:
    reply = calling(("send", {"to": "a"}), ("send", {"to": "b"}))
    agent = desk.agent(reply, interrupt_mode="per_call")
    first, second = (await begin(agent))["__interrupt__"]
    with pytest.raises(InvalidDecisionError, match=second.id):
        await run(agent, Command(resume={first.id: APPROVE, second.id: {"type": "no"}}), THREAD)
    assert desk.did == []
