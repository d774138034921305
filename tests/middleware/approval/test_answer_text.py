"""Text that can be neither stored nor sent is no answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.types import Command
from pydantic import TypeAdapter, ValidationError

from interlock.middleware import InvalidDecisionError
from interlock.middleware.approval.answer_schema import decision_type
from interlock.middleware.approval.answer_text import text_problem

Run = Callable[..., Awaitable[dict[str, Any]]]
Calling = Callable[..., AIMessage]

THREAD: dict[str, Any] = {"configurable": {"thread_id": "t"}}
HALF = "half \ud800"
EDIT = {"type": "edit", "edited_action": {"name": "send", "args": {"to": HALF}}}
DECISIONS = [
    EDIT,
    {"type": "approve", "message": HALF},
    {"type": "reject", "message": HALF},
    {"type": "respond", "message": HALF},
]


@pytest.mark.parametrize(
    "value", [HALF, [HALF], {"a": {"b": ({HALF: 1},)}}, {"a": "\udc00"}], ids=range(4)
)
def test_half_of_a_surrogate_pair_is_found_anywhere(value: Any) -> None:
    assert "surrogate" in (text_problem(value) or "")


@pytest.mark.parametrize("value", [None, 7, "", "ä€😀", {"a": ["b", {"ü": True}]}], ids=range(5))
def test_other_values_are_fine(value: Any) -> None:
    assert text_problem(value) is None


@pytest.mark.parametrize("decision", DECISIONS, ids=lambda d: d["type"])
@pytest.mark.parametrize("mode", ["batched", "per_call"])
async def test_a_decision_that_is_no_text_is_refused_and_the_call_waits(
    desk: Any, run: Run, calling: Calling, begin: Run, decision: Any, mode: str
) -> None:
    agent = desk.agent(calling(("send", {"to": "a"})), interrupt_mode=mode)
    await begin(agent)
    given = decision if mode == "per_call" else {"decisions": [decision]}
    with pytest.raises(InvalidDecisionError, match="surrogate"):
        await run(agent, Command(resume=given), THREAD)
    with pytest.raises(InvalidDecisionError, match="surrogate"):
        agent.answer({"c1": decision}, THREAD)
    assert desk.did == []
    assert [p.id for p in agent.pending(THREAD)] == ["c1"]


@pytest.mark.parametrize("decision", DECISIONS, ids=lambda d: d["type"])
def test_the_type_of_an_answer_refuses_it_too(decision: Any) -> None:
    kind = decision_type(["approve", "edit", "reject", "respond"], {"send": None})
    with pytest.raises(ValidationError, match="surrogate"):
        TypeAdapter(kind).validate_python(decision)


async def test_of_several_answers_none_is_carried_out_if_one_is_no_text(
    desk: Any, run: Run, calling: Calling, begin: Run
) -> None:
    reply = calling(("send", {"to": "a"}), ("send", {"to": "b"}))
    agent = desk.agent(reply, interrupt_mode="per_call")
    first, second = (await begin(agent))["__interrupt__"]
    with pytest.raises(InvalidDecisionError, match="surrogate"):
        await run(agent, Command(resume={first.id: {"type": "approve"}, second.id: EDIT}), THREAD)
    assert desk.did == []
