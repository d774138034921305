from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from interlock.graph.exits import ExitRules
from interlock.graph.routing import (
    JumpRequest,
    Step,
    after_model,
    after_tools,
    resolve_jump,
    within_limits,
)
from interlock.state.errors import InvalidJumpError
from interlock.state.finish import finish_of
from interlock.state.ledger import Ledger

RULES = ExitRules(tools=frozenset({"finish", "save"}))


def reply(*calls: str, text: str = "", **fields: Any) -> AIMessage:
    made: Any = [
        {"name": name, "args": {}, "id": f"c{n}", "type": "tool_call"}
        for n, name in enumerate(calls)
    ]
    return AIMessage(text, id="r", tool_calls=made, **fields)


def result(number: int, status: Any = "success") -> ToolMessage:
    return ToolMessage("x", tool_call_id=f"c{number}", id=f"t{number}", status=status)


def broken() -> AIMessage:
    call: Any = {"name": "t", "args": "{", "id": "x", "error": "cut", "type": "invalid_tool_call"}
    return AIMessage("", id="r", invalid_tool_calls=[call])


@pytest.mark.parametrize(
    ("messages", "ledger", "expected"),
    [
        ([HumanMessage("q")], Ledger(), ("exit", "text")),
        ([reply("t")], Ledger(), ("tools", None)),
        ([reply("t"), result(0)], Ledger(), ("model", None)),
        ([reply(text="hi")], Ledger(), ("exit", "text")),
        (
            [reply(text="hi", response_metadata={"finish_reason": "length"})],
            Ledger(),
            ("exit", "length"),
        ),
        ([reply(response_metadata={"stop_reason": "max_tokens"})], Ledger(), ("exit", "length")),
        (
            [reply(response_metadata={"finish_reason": "SAFETY"})],
            Ledger(),
            ("exit", "content_filter"),
        ),
        ([reply()], Ledger(fruitless_replies=1), ("model", None)),
        ([reply()], Ledger(fruitless_replies=3), ("exit", "text")),
        ([broken()], Ledger(fruitless_replies=1), ("model", None)),
        ([broken()], Ledger(fruitless_replies=3), ("exit", "invalid_tool_calls")),
        ([reply("Out"), result(0)], Ledger(output="answered"), ("exit", "structured_response")),
        ([reply(text="prose")], Ledger(output="again"), ("model", None)),
        ([reply("t")], Ledger(output="answered"), ("tools", None)),
        ([reply(text="hi")], Ledger(final_answer=True), ("exit", "max_agent_steps")),
    ],
)
def test_after_a_reply(
    messages: list[BaseMessage], ledger: Ledger, expected: tuple[str, Any]
) -> None:
    step = after_model(messages, ledger, RULES)
    assert (step.to, step.reason) == expected


def test_without_text_as_condition_a_text_is_answered_by_a_nudge() -> None:
    step = after_model(
        [reply(text="hi")], Ledger(), ExitRules(tools=frozenset({"save"}), text=False)
    )
    assert step.to == "model"
    assert step.nudge is not None
    assert "save" in step.nudge


def test_an_empty_reply_is_dropped_and_nudged() -> None:
    step = after_model([reply()], Ledger(fruitless_replies=1), RULES)
    assert step.drop_reply
    assert step.nudge


def test_without_tools_any_reply_ends_the_run() -> None:
    rules = ExitRules(calls_tools=False)
    for message in (reply(), reply("made_up"), reply(text="hi")):
        assert after_model([message], Ledger(), rules) == Step("exit", "text", "r")


@pytest.mark.parametrize(
    ("names", "failed", "expected"),
    [
        (["search"], [], ("model", None)),
        (["finish"], [], ("exit", "finish")),
        (["search", "finish"], [], ("exit", "finish")),
        (["finish", "search"], [], ("exit", "finish")),
        (["save", "finish"], [], ("exit", "save")),
        (["finish"], [0], ("model", None)),
        (["save", "finish"], [1], ("model", None)),
        (["finish", "finish"], [0], ("model", None)),
        (["search", "finish"], [0], ("exit", "finish")),
    ],
)
def test_after_tools(names: list[str], failed: list[int], expected: tuple[str, Any]) -> None:
    results = [result(n, "error" if n in failed else "success") for n in range(len(names))]
    step = after_tools([reply(*names), *results], [f"c{n}" for n in range(len(names))], RULES)
    assert (step.to, step.reason) == expected


def test_the_exit_message_is_that_of_the_exit_tool() -> None:
    step = after_tools([reply("finish", "search"), result(0), result(1)], ["c0", "c1"], RULES)
    assert step.message == "t0"


def test_an_exit_tool_that_was_refused_does_not_end_the_run() -> None:
    assert after_tools([reply("finish"), result(0)], [], RULES).to == "model"


def test_calls_that_had_to_wait_come_next() -> None:
    assert after_tools([reply("a", "b"), result(0)], ["c0"], RULES).to == "tools"


@pytest.mark.parametrize(
    ("direct", "failed", "to"),
    [
        (["c0", "c1"], [], "exit"),
        (["c0"], [], "model"),
        (["c0", "c1"], [1], "model"),
        ([], [], "model"),
    ],
)
def test_direct_results_end_the_run_if_all_are_and_succeeded(
    direct: list[str], failed: list[int], to: str
) -> None:
    results = [result(n, "error" if n in failed else "success") for n in range(2)]
    step = after_tools([reply("a", "b"), *results], ["c0", "c1"], RULES, direct)
    assert step.to == to


def test_a_structured_answer_beside_calls_ends_the_run_after_them() -> None:
    step = after_tools([reply("a"), result(0)], ["c0"], RULES, answered=True)
    assert step.reason == "structured_response"


@given(
    steps=st.integers(0, 5),
    limit=st.integers(1, 5),
    final=st.booleans(),
    asked=st.booleans(),
    used=st.integers(0, 20),
    budget=st.none() | st.integers(1, 20),
)
def test_the_model_is_never_asked_beyond_a_limit(
    steps: int, limit: int, final: bool, asked: bool, used: int, budget: int | None
) -> None:
    rules = ExitRules(max_steps=limit, final_answer=final, max_tokens_total=budget)
    ledger = Ledger(step_count=steps, final_answer=asked, token_usage={"total_tokens": used})
    step = within_limits(Step("model"), ledger, rules)
    if budget is not None and used >= budget:
        assert step == Step("exit", "max_tokens_total")
    elif steps >= limit and (asked or not final):
        assert step == Step("exit", "max_agent_steps")
    else:
        assert step.to == "model"
    assert within_limits(Step("tools"), ledger, rules).to == "tools"


@pytest.mark.parametrize(
    "metadata", [{}, {"finish_reason": "stop"}, {"finish_reason": None}, {"stop_reason": 3}]
)
def test_a_reply_that_ended_by_itself_has_no_finish(metadata: dict[str, Any]) -> None:
    assert finish_of(reply(response_metadata=metadata)) is None


def test_a_stop_reason_is_the_exit_reason() -> None:
    jump = JumpRequest("hook", "end", None, "budget")
    assert resolve_jump(jump, [HumanMessage("q", id="q")]) == Step("exit", "budget", "q")


def test_a_jump_to_the_tools_needs_a_pending_call() -> None:
    jump = JumpRequest("hook", "tools")
    assert resolve_jump(jump, [reply("t")]) == Step("tools")
    with pytest.raises(InvalidJumpError):
        resolve_jump(jump, [reply("t"), result(0)])
