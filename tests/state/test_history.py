from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from interlock.state.history import (
    is_valid,
    last_ai_message,
    pending_calls,
    repair_history,
    results_in_call_order,
    with_clean_calls,
)


def reply(*ids: Any, **fields: Any) -> AIMessage:
    calls: Any = [{"name": "t", "args": {}, "id": i, "type": "tool_call"} for i in ids]
    return AIMessage("", tool_calls=calls, **fields)


def result(ident: str, text: str = "ok") -> ToolMessage:
    return ToolMessage(text, tool_call_id=ident)


def shape(messages: list[BaseMessage]) -> list[str]:
    return [f"{m.type}:{getattr(m, 'tool_call_id', '')}" for m in messages]


def test_a_valid_history_is_left_alone() -> None:
    messages = [HumanMessage("q"), reply("a", "b"), result("b"), result("a"), AIMessage("done")]
    repair = repair_history(messages)
    assert not repair.changed
    assert repair.messages == messages


def test_an_open_call_before_a_new_message_is_closed() -> None:
    repair = repair_history([HumanMessage("q"), reply("a"), HumanMessage("hello?")])
    assert shape(repair.messages) == ["human:", "ai:", "tool:a", "human:"]
    assert repair.added[0].status == "error"
    assert not repair.appended


def test_open_calls_at_the_end_are_closed_by_appending() -> None:
    repair = repair_history([HumanMessage("q"), reply("a", "b"), result("a")])
    assert shape(repair.messages)[2:] == ["tool:a", "tool:b"]
    assert repair.appended


def test_a_result_without_its_call_is_dropped() -> None:
    repair = repair_history([result("gone"), HumanMessage("q")])
    assert shape(repair.messages) == ["human:"]


def test_of_two_results_of_one_call_the_first_stays() -> None:
    repair = repair_history([reply("a"), result("a", "first"), result("a", "second")])
    assert [m.text for m in repair.messages] == ["", "first"]


def test_a_late_result_is_moved_behind_its_call() -> None:
    repair = repair_history([reply("a"), HumanMessage("wait"), result("a")])
    assert shape(repair.messages) == ["ai:", "tool:a", "human:"]


def test_ids_may_be_used_again_in_a_later_reply() -> None:
    messages = [reply("call_0"), result("call_0", "1"), reply("call_0"), result("call_0", "2")]
    assert not repair_history(messages).changed


def test_a_crash_before_a_repeated_id_does_not_take_the_later_result() -> None:
    repair = repair_history(
        [reply("call_0"), HumanMessage("again"), reply("call_0"), result("call_0", "2")]
    )
    assert shape(repair.messages) == ["ai:", "tool:call_0", "human:", "ai:", "tool:call_0"]
    assert repair.messages[1].text != "2"
    assert repair.messages[4].text == "2"


def test_unreadable_calls_are_answered() -> None:
    broken = {"name": "save", "args": "{", "id": "x", "error": "cut", "type": "invalid_tool_call"}
    repair = repair_history([AIMessage("", invalid_tool_calls=[broken])])
    assert shape(repair.messages) == ["ai:", "tool:x"]
    assert "'save'" in repair.messages[1].text


def test_nothing_before_the_start_is_looked_at() -> None:
    known = [reply("a"), HumanMessage("never repaired")]
    repair = repair_history([*known, reply("b")], start=2)
    assert repair.messages[:2] == known
    assert shape(repair.messages[2:]) == ["ai:", "tool:b"]


def test_pending_calls_are_those_of_the_last_reply_without_a_result() -> None:
    messages = [reply("old"), HumanMessage("q"), reply("a", "b", "c"), result("b")]
    assert [c["id"] for c in pending_calls(messages)] == ["a", "c"]


def test_a_reply_in_text_leaves_nothing_pending() -> None:
    assert pending_calls([reply("a"), AIMessage("done")]) == []


def test_repeated_and_unusable_ids_become_usable_ones() -> None:
    clean = with_clean_calls(reply("a", "a", "", None, "x" * 300, "a\n"))
    ids = [c["id"] for c in clean.tool_calls]
    assert ids[0] == "a"
    assert len(set(ids)) == 6
    assert all(i and len(i) <= 256 and i.isprintable() for i in ids)


def test_usable_ids_leave_the_message_as_it_is() -> None:
    message = reply("a", "b")
    assert with_clean_calls(message) is message


@given(st.data())
def test_a_repaired_history_is_valid_and_stays_so(histories: Any, data: Any) -> None:
    messages = data.draw(histories)
    before = list(messages)
    once = repair_history(messages)
    assert is_valid(once.messages)
    assert messages == before, "the given list was changed"
    again = repair_history(once.messages)
    assert not again.changed


@given(st.data())
def test_repair_keeps_everything_that_was_said(histories: Any, data: Any) -> None:
    messages = data.draw(histories)
    kept = [m.text for m in repair_history(messages).messages if not isinstance(m, ToolMessage)]
    assert kept == [m.text for m in messages if not isinstance(m, ToolMessage)]


@given(st.data())
def test_appended_says_whether_the_change_is_at_the_end(histories: Any, data: Any) -> None:
    messages = data.draw(histories)
    repair = repair_history(messages)
    if repair.appended:
        assert repair.messages[: len(messages)] == messages
        assert repair.messages[len(messages) :] == repair.added


@given(st.data())
def test_repair_from_a_valid_prefix_gives_the_same_history(histories: Any, data: Any) -> None:
    prefix = repair_history(data.draw(histories)).messages
    tail = data.draw(histories)
    whole = repair_history([*prefix, *tail])
    found = last_ai_message(prefix)
    if found is None or not found[1].tool_calls:
        partial = repair_history([*prefix, *tail], len(prefix))
        assert shape(partial.messages) == shape(whole.messages) or whole.changed


def test_results_are_brought_into_the_order_of_their_calls() -> None:
    calls: list[Any] = [{"name": "t", "args": {}, "id": i, "type": "tool_call"} for i in "abc"]
    start = [HumanMessage("go"), AIMessage("", tool_calls=calls)]
    by_id = {i: ToolMessage(i, tool_call_id=i) for i in "abc"}
    hint = HumanMessage("a hint")
    mixed = [*start, by_id["b"], hint, by_id["c"], by_id["a"]]
    assert results_in_call_order(mixed) == [*start, by_id["a"], hint, by_id["b"], by_id["c"]]
    assert results_in_call_order([*start, by_id["a"], by_id["c"]]) is None
    assert results_in_call_order([HumanMessage("go")]) is None
