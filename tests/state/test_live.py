from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from interlock.state import AgentState, InvalidUpdateError, LiveState, replace_values
from interlock.state.fields import read_fields
from interlock.state.live import ToolState
from interlock.state.merge import read_schema
from interlock.state.state import rules_of
from interlock.state.working import WorkingState

FIELDS = {
    "messages": read_fields(AgentState)["messages"],
    **read_schema({"docs": {"type": list[str]}, "last": {"type": str}}),
}
RULES = rules_of(FIELDS)


def looking_at(work: WorkingState, **shown: Any) -> LiveState:
    return LiveState(work, FIELDS, "hook", {key: value.copy for key, value in shown.items()})


def of_tool(**values: Any) -> ToolState:
    return ToolState(values, "Tool 't'", rules=RULES, fields=FIELDS)


def test_a_view_writes_through_at_once_and_in_order() -> None:
    work = WorkingState({"docs": ["a"]}, RULES)
    view = looking_at(work)
    view.set("docs", "b")
    view.set("last", "x")
    assert (work.values["docs"], view.written) == (["a", "b"], {"docs": ["b"], "last": ["x"]})
    assert work.take_writes() == [{"docs": "b", "last": "x"}]


def test_what_is_shown_can_be_read_and_not_written() -> None:
    view = looking_at(WorkingState({"docs": []}, RULES), tools=["t"], hook_context=[])
    assert (view["tools"], set(view), len(view)) == (["t"], {"docs", "tools", "hook_context"}, 3)
    assert "tools" in view
    with pytest.raises(InvalidUpdateError, match="hook wrote state key 'tools'"):
        view.set("tools", [])


def test_a_word_about_the_run_is_no_part_of_the_state() -> None:
    work = WorkingState({}, RULES)
    view = looking_at(work)
    view.set("stop_run", "tired")
    view.set("continue_run", True)
    assert (view["stop_run"], view.get("continue_run"), work.changed) == ("tired", True, False)
    assert view.signals == {"stop_run": "tired", "continue_run": True}


def test_a_trace_is_told_what_was_set_and_said_and_returned() -> None:
    view = looking_at(WorkingState({}, RULES))
    assert view.report(None) is None
    view.set("docs", "a")
    view.set("docs", "b")
    view.set("last", "x")
    view.set("stop_run", "tired")
    told = {"docs": ["a", "b"], "last": "x", "stop_run": "tired"}
    assert view.report(None) == told
    assert view.report({"last": "y"}) == {**told, "last": "y"}


def test_a_closed_view_can_only_be_read() -> None:
    view = looking_at(WorkingState({"docs": ["a"]}, RULES))
    view.close()
    assert view["docs"] == ["a"]
    for key in ("docs", "stop_run"):
        with pytest.raises(InvalidUpdateError, match="hook has returned"):
            view.set(key, "b")


def test_a_tools_writes_are_kept_apart_from_the_values_it_was_given() -> None:
    values = {"docs": ["a"]}
    state = ToolState(values, "Tool 't'", rules=RULES, fields=FIELDS)
    state.set("docs", ["b"])
    state.set("jump_to", "end")
    assert (state["docs"], values) == (["a", "b"], {"docs": ["a"]})
    assert state.take_writes() == [{"docs": ["b"]}, {"jump_to": "end"}]


@pytest.mark.parametrize("word", ["stop_run", "continue_run"])
def test_only_hooks_stop_or_continue_a_run(word: str) -> None:
    with pytest.raises(InvalidUpdateError, match=f"'{word}', which is not declared"):
        of_tool().set(word, "x")


def test_a_tool_cannot_drop_the_conversation_it_stands_in() -> None:
    state = of_tool(messages=[HumanMessage("a", id="a")])
    with pytest.raises(InvalidUpdateError, match="hold its own call"):
        state.set("messages", [], replace_values)
    assert len(state["messages"]) == 1


def test_a_view_is_written_to_a_file_without_what_it_is_shown() -> None:
    view = looking_at(WorkingState({"docs": ["a"]}, RULES), tools=[object()])
    assert view.to_dict()["data"] == {"docs": ["a"]}
