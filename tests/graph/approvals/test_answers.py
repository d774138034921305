"""What waits in a thread, and answers to it by id."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from interlock.graph import answer, create_agent, pending
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import (
    CannotPauseError,
    HumanInTheLoopMiddleware,
    InvalidDecisionError,
    NotWaitingError,
)

Calling = Callable[..., AIMessage]
Office = Any

GO: dict[str, Any] = {"messages": [HumanMessage("go")]}
APPROVE = {"type": "approve"}
REJECT = {"type": "reject"}


async def test_what_waits_is_listed_with_all_that_is_needed_to_decide(
    office: Office, calling: Calling, thread: Any, listing: Any
) -> None:
    agent = office.agent(calling(("send", {"to": "a"}), ("send", {"to": "b"})))
    assert await listing(agent, thread) == []
    agent.invoke(GO, thread)

    first, second = await listing(agent, thread)
    assert (first.id, first.tool, first.args) == ("c1", "send", {"to": "a"})
    assert first.allowed == ("approve", "edit", "reject", "respond")
    assert "Args: {'to': 'a'}" in first.description
    assert first.interrupt_id == second.interrupt_id
    assert first.schema is not None
    assert first.schema["$defs"]["send"]["required"] == ["to"]


async def test_answers_go_by_id_all_at_once_or_one_by_one(
    office: Office, calling: Calling, thread: Any, say: Any
) -> None:
    agent = office.agent(calling(*(("send", {"to": to}) for to in "abc")))
    agent.invoke(GO, thread)
    await say(agent, {"c3": APPROVE}, thread)
    assert [p.id for p in pending(agent, thread)] == ["c1", "c2"]

    result = await say(agent, {"c2": REJECT, "c1": APPROVE}, thread)
    assert result["messages"][-1].text == "done"
    assert sorted(office.did) == ["send a", "send c"]


@pytest.mark.parametrize("mode", ["batched", "per_call"])
@pytest.mark.parametrize(
    "wrong",
    [
        None,
        "approve",
        {},
        {"type": "aprove"},
        {"type": "respond"},
        {"type": "edit", "edited_action": {"name": "ask", "args": {"question": "x"}}},
        {"type": "edit", "edited_action": {"name": "send", "args": {"to": 5}}},
        {"type": "edit", "edited_action": {"name": "send", "args": {}}},
        {"decisions": [APPROVE]},
    ],
    ids=str,
)
async def test_refused_answer_changes_nothing(
    office: Office, calling: Calling, thread: Any, say: Any, wrong: Any, mode: str
) -> None:
    agent = office.agent(calling(("send", {"to": "a"}), ("send", {"to": "b"})), mode=mode)
    agent.invoke(GO, thread)
    before = pending(agent, thread)
    with pytest.raises(InvalidDecisionError, match=r"c1|send"):
        await say(agent, {"c2": APPROVE, "c1": wrong}, thread)

    assert (pending(agent, thread), office.did) == (before, [])
    await say(agent, {"c1": APPROVE, "c2": APPROVE}, thread)
    assert sorted(office.did) == ["send a", "send b"]


async def test_second_click_is_refused(
    office: Office, calling: Calling, thread: Any, say: Any
) -> None:
    agent = office.agent(calling(("send", {"to": "a"})), calling(("send", {"to": "b"}), start=2))
    agent.invoke(GO, thread)
    await say(agent, {"c1": APPROVE}, thread)
    with pytest.raises(NotWaitingError, match=r"'c1' was answered before.*\['c2'\]"):
        await say(agent, {"c1": APPROVE}, thread)
    assert office.did == ["send a"]


async def test_answer_for_another_thread_is_refused(
    office: Office, calling: Calling, thread: Any, say: Any
) -> None:
    agent = office.agent(calling(("send", {"to": "a"})))
    agent.invoke(GO, thread)
    with pytest.raises(NotWaitingError, match="'c1' does not wait here"):
        await say(agent, {"c1": APPROVE}, {"configurable": {"thread_id": "other"}})
    assert (len(pending(agent, thread)), office.did) == (1, [])


async def test_answer_for_an_earlier_step_is_refused_although_the_checkpoint_is_named(
    office: Office, calling: Calling, thread: Any, say: Any
) -> None:
    agent = office.agent(calling(("send", {"to": "a"})))
    agent.invoke(GO, thread)
    old = agent.get_state(thread).config
    await say(agent, {"c1": REJECT}, thread)
    with pytest.raises(NotWaitingError, match="answered before"):
        await say(agent, {"c1": APPROVE}, old)
    assert office.did == []


async def test_full_id_never_means_a_later_call_of_the_same_id(
    office: Office, calling: Calling, thread: Any, say: Any
) -> None:
    agent = office.agent(calling(("send", {"to": "a"})), calling(("send", {"to": "b"})))
    agent.invoke(GO, thread)
    first = pending(agent, thread)[0].full_id
    await say(agent, {first: APPROVE}, thread)
    assert [p.id for p in pending(agent, thread)] == ["c1"]
    with pytest.raises(NotWaitingError, match="answered before"):
        await say(agent, {first: APPROVE}, thread)
    assert office.did == ["send a"]


async def test_agent_goes_on_with_threads_that_another_process_stored(
    office: Office, calling: Calling, thread: Any, say: Any
) -> None:
    saver = InMemorySaver()
    office.agent(calling(("send", {"to": "a"})), checkpointer=saver).invoke(GO, thread)
    agent = office.agent(checkpointer=None).with_checkpointer(saver)
    await say(agent, {"c1": APPROVE}, thread)
    assert office.did == ["send a"]


async def test_new_input_takes_back_what_waited(
    office: Office, calling: Calling, thread: Any, say: Any
) -> None:
    agent = office.agent(calling(("send", {"to": "a"})))
    agent.invoke(GO, thread)
    agent.invoke({"messages": [HumanMessage("never mind")]}, thread)
    with pytest.raises(NotWaitingError, match="nothing waits"):
        await say(agent, {"c1": APPROVE}, thread)
    assert office.did == []


async def test_no_answer_at_all_is_refused(
    office: Office, calling: Calling, thread: Any, say: Any
) -> None:
    agent = office.agent(calling(("send", {"to": "a"})))
    agent.invoke(GO, thread)
    with pytest.raises(NotWaitingError, match="c1"):
        await say(agent, {}, thread)


def test_two_answers_at_the_same_time_run_the_tool_once(
    office: Office, calling: Calling, thread: Any
) -> None:
    office.hold = threading.Event()
    agent = office.agent(calling(("send", {"to": "a"})))
    agent.invoke(GO, thread)
    first = threading.Thread(target=answer, args=(agent, {"c1": APPROVE}, thread))
    first.start()
    assert office.began.wait(20)
    with pytest.raises(NotWaitingError, match="being answered just now"):
        answer(agent, {"c1": APPROVE}, thread)
    office.hold.set()
    first.join(20)
    assert office.did == ["send a"]


async def test_questions_of_tools_are_answered_the_same_way(
    office: Office, calling: Calling, thread: Any, say: Any
) -> None:
    agent = office.agent(calling(("ask", {"question": "red?"}), ("ask", {"question": "blue?"})))
    agent.invoke(GO, thread)
    red, blue = sorted(pending(agent, thread), key=lambda p: str(p.value), reverse=True)
    assert (red.kind, red.value, red.tool) == ("question", "red?", None)

    await say(agent, {red.id: "yes"}, thread)
    result = await say(agent, {blue.id: "no"}, thread)
    assert [m.text for m in result["messages"][2:4]] == ["yes", "no"]


async def test_calls_of_the_same_id_in_two_agents_are_told_apart(
    office: Office, calling: Calling, thread: Any, say: Any
) -> None:
    inner = office.agent(calling(("send", {"to": "inner"})), checkpointer=None)

    @tool
    def delegate(task: str) -> str:
        """Let another agent do it."""
        return str(inner.invoke({"messages": [task]})["messages"][-1].text)

    reply = calling(("send", {"to": "outer"}), ("delegate", {"task": "x"}))
    model = ScriptedChatModel([reply, "done"])
    review = HumanInTheLoopMiddleware({"send": True}, interrupt_mode="per_call")
    agent = create_agent(
        model, [*office.tools, delegate], middleware=[review], checkpointer=InMemorySaver()
    )
    agent.invoke(GO, thread)
    by_target = {p.args["to"]: p for p in pending(agent, thread)}
    assert {p.id for p in by_target.values()} == {
        f"{p.interrupt_id}/c1" for p in by_target.values()
    }

    await say(agent, {by_target["inner"].id: APPROVE}, thread)
    assert office.did == ["send inner"]
    await say(agent, {pending(agent, thread)[0].id: APPROVE}, thread)
    assert office.did == ["send inner", "send outer"]


def test_without_a_checkpointer_nothing_can_wait(office: Office, thread: Any) -> None:
    with pytest.raises(CannotPauseError, match="checkpointer"):
        pending(office.agent(checkpointer=None), thread)
