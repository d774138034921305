"""A verdict is given once, and an answer counts for the question that it was given to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from interlock.graph import create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import Verdict, allow, ask, block, guardrail, revise
from interlock.middleware.guardrails.kept import records_in
from interlock.state import StorageError

THREAD: Any = {"configurable": {"thread_id": "t"}}
SURFACES = ["input", "parallel", "output", "tool_call", "tool_result"]

ran: list[str] = []


@tool
def pay(to: str) -> str:
    """Pay."""
    ran.append(to)
    return f"paid {to}"


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    ran.clear()


def guard(on: Any, check: Any, name: str = "g") -> Any:
    return guardrail("input" if on == "parallel" else on, parallel=on == "parallel", name=name)(
        check
    )


def always(_: Any) -> Verdict:
    return ask("sure?")


class Asks:
    """Asks the first time, and would allow everything later."""

    def __init__(self, times: int = 0) -> None:
        self.times = times

    def __call__(self, _: Any) -> Verdict:
        self.times += 1
        return ask("sure?") if self.times == 1 else allow()


@pytest.mark.parametrize("on", SURFACES)
@pytest.mark.parametrize("answer", ["approve", "no"])
async def test_who_resumes_the_run_elsewhere_repeats_nothing(
    run: Any, scripted: Any, calling: Any, on: str, answer: str
) -> None:
    check, saver = Asks(), InMemorySaver()
    model = scripted(calling(("pay", {"to": "Ann"}), text="I pay."), "done")

    def agent() -> Any:
        return create_agent(model, [pay], middleware=[guard(on, check)], checkpointer=saver)

    await run(agent(), {"messages": "go"}, THREAD)
    (asked,) = agent().get_state(THREAD).interrupts
    assert asked.value["guardrail"] == "g"
    assert asked.value["question"] == "sure?"
    assert ran == (["Ann"] if on == "tool_result" else [])
    evaluated = check.times
    result = await run(agent(), Command(resume={asked.id: answer}), THREAD)
    approved = answer == "approve"
    # What else is checked after the answer is another text: the last reply of the model.
    assert check.times == evaluated + (1 if on == "output" and approved else 0)
    assert ran == (["Ann"] if approved or on == "tool_result" else [])
    ends = not approved and on in ("input", "parallel", "output")
    assert result["exit_reason"] == ("g" if ends else "text")
    assert ("A reviewer refused this." in [m.text for m in result["messages"]]) != approved
    assert model.calls == {"input": 0 if ends else 2}.get(on, 1 if ends else 2)


@pytest.mark.parametrize("on", SURFACES)
async def test_an_answer_is_taken_for_no_other_question(
    run: Any, scripted: Any, calling: Any, on: str
) -> None:
    checks = [Asks(), Asks()]
    saver = InMemorySaver()
    model = scripted(calling(("pay", {"to": "Ann"}), text="I pay."), "done")

    def agent() -> Any:
        guards = [guard(on, check, name) for check, name in zip(checks, "ab", strict=True)]
        return create_agent(model, [pay], middleware=guards, checkpointer=saver)

    await run(agent(), {"messages": "go"}, THREAD)
    asked: list[str] = []
    for answer in ("approve", "no"):
        (question,) = agent().get_state(THREAD).interrupts
        asked.append(question.value["guardrail"])
        await run(agent(), Command(resume={question.id: answer}), THREAD)
    assert sorted(asked) == ["a", "b"]
    assert [check.times for check in checks] == [1, 1]
    assert ran == (["Ann"] if on == "tool_result" else [])


async def test_calls_of_a_reply_are_asked_about_at_once_and_others_run(
    run: Any, scripted: Any, calling: Any
) -> None:
    def check(call: Any) -> Verdict:
        return allow() if call["args"]["to"] == "Bob" else ask(f"Pay {call['args']['to']}?")

    calls = calling(*(("pay", {"to": to}) for to in ("Ann", "Bob", "Eve")))
    agent = create_agent(
        scripted(calls, "done"),
        [pay],
        middleware=[guard("tool_call", check)],
        checkpointer=InMemorySaver(),
    )
    await run(agent, {"messages": "go"}, THREAD)
    assert ran == ["Bob"]
    asked = {i.value["question"]: i.id for i in agent.get_state(THREAD).interrupts}
    answers = {asked["Pay Ann?"]: "approve", asked["Pay Eve?"]: "no"}
    result = await run(agent, Command(resume=answers), THREAD)
    assert sorted(ran) == ["Ann", "Bob"]
    results = [m.text for m in result["messages"] if isinstance(m, ToolMessage)]
    assert results == ["paid Ann", "paid Bob", "A reviewer refused this."]


async def test_an_approval_holds_for_no_later_call_with_the_same_id(
    run: Any, scripted: Any, calling: Any
) -> None:
    calls = [calling(("pay", {"to": "Ann"})) for _ in range(2)]
    agent = create_agent(
        scripted(*calls, "done"),
        [pay],
        middleware=[guard("tool_call", always)],
        checkpointer=InMemorySaver(),
    )
    await run(agent, {"messages": "go"}, THREAD)
    await run(agent, Command(resume="approve"), THREAD)
    assert ran == ["Ann"]
    assert len(agent.get_state(THREAD).interrupts) == 1


async def test_a_question_that_an_end_of_the_run_left_open_is_asked_in_the_next_run(
    run: Any, scripted: Any
) -> None:
    def stop(text: str) -> Any:
        return block("no") if "bad" in text else None

    def doubt(text: str) -> Any:
        return ask("really?") if "odd" in text else None

    model = scripted("fine")
    agent = create_agent(
        model,
        [],
        middleware=[guard("input", stop, "stop"), guard("input", doubt, "doubt")],
        checkpointer=InMemorySaver(),
    )
    await run(agent, {"messages": [HumanMessage("odd"), HumanMessage("bad")]}, THREAD)
    await run(agent, {"messages": "go on"}, THREAD)
    (asked,) = agent.get_state(THREAD).interrupts
    assert asked.value["value"] == "odd"
    await run(agent, Command(resume="no"), THREAD)
    assert model.calls == 0
    assert "odd" not in [m.text for m in agent.get_state(THREAD).values["messages"]]


async def test_what_update_state_adds_is_checked_too(run: Any, scripted: Any) -> None:
    check = Asks()
    agent = create_agent(
        scripted("fine"), [], middleware=[guard("input", check)], checkpointer=InMemorySaver()
    )
    agent.update_state(THREAD, {"messages": [HumanMessage("added")]})
    await run(agent, {"messages": "go"}, THREAD)
    # The one that came with the input was asked about first, or the one that was there.
    assert len(agent.get_state(THREAD).interrupts) == 1
    assert check.times == 2


async def test_a_thread_remembers_no_more_of_many_turns_than_of_one(
    run: Any, scripted: Any
) -> None:
    saver = InMemorySaver()
    guards = [guard("input", Asks(2), f"g{n}") for n in range(3)]
    agent = create_agent(scripted("fine"), [], middleware=guards, checkpointer=saver)
    sizes: list[int] = []
    for turn in range(6):
        await run(agent, {"messages": f"turn {turn}"}, THREAD)
        kept = saver.get_tuple(THREAD).checkpoint["channel_values"]["guardrail_verdicts"]  # type: ignore[union-attr]  # pyright: ignore[reportOptionalMemberAccess]
        sizes.append(sum(len(records) for records in kept.values()))
    assert sizes == [3] * 6


@pytest.mark.parametrize(
    "stored",
    [
        "text",
        {"g": ["a"]},
        {"g": {"x": "allow"}},
        {"g": {"x": {"kind": "open"}}},
        {"g": {"x": {"kind": "revise", "value": 3}}},
        {"g": {"x": {"kind": "ask", "reason": 3}}},
    ],
)
def test_records_of_another_form_are_refused_by_name(stored: Any) -> None:
    with pytest.raises(StorageError, match="guardrail_verdicts"):
        records_in({"guardrail_verdicts": stored}, "g")


SAID = ("go", "I pay.", "done", "paid Ann")
VERDICTS = [allow(), ask("?"), block("no"), revise("[r]")]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    plan=st.lists(
        st.tuples(st.sampled_from(["input", "output", "tool_result"]), st.sampled_from(VERDICTS)),
        min_size=1,
        max_size=4,
    ),
    answers=st.lists(st.booleans(), min_size=12, max_size=12),
)
def test_no_pause_changes_what_is_checked_or_how_often(
    plan: Sequence[tuple[Any, Verdict]], answers: list[bool]
) -> None:
    def play(*, fresh: bool) -> tuple[list[str], list[list[str]], str, int]:
        seen: list[list[str]] = [[] for _ in plan]
        saver = InMemorySaver()
        call: Any = {"name": "pay", "args": {"to": "Ann"}, "id": "c1", "type": "tool_call"}
        model = ScriptedChatModel([AIMessage("I pay.", tool_calls=[call]), "done"])

        def agent() -> Any:
            def checks(number: int, verdict: Verdict) -> Any:
                def check(text: str) -> Verdict:
                    seen[number].append(text)
                    return verdict if text in SAID else allow()

                return check

            guards = [guard(on, checks(n, v), f"g{n}") for n, (on, v) in enumerate(plan)]
            return create_agent(model, [pay], middleware=guards, checkpointer=saver)

        one = agent()
        result: Any = one.invoke({"messages": "go"}, THREAD)
        given_answers = iter(answers)
        while pauses := one.get_state(THREAD).interrupts:
            one = agent() if fresh else one
            said = "approve" if next(given_answers) else "no"
            result = one.invoke(Command(resume={pauses[0].id: said}), THREAD)
        texts = [m.text for m in result["messages"]]
        return texts, seen, result["exit_reason"], model.calls

    texts, seen, reason, calls = play(fresh=False)
    assert (texts, seen, reason, calls) == play(fresh=True)
    # What a guardrail makes of a text is another text, which the others are asked about.
    assert all(given.count(text) <= 1 for given in seen for text in SAID)
