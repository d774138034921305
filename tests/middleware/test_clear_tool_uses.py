from __future__ import annotations

import gc
from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from interlock.middleware.clear_tool_uses import ClearToolUsesEdit, Copies
from interlock.state.errors import ConfigurationError


def characters(messages: Sequence[BaseMessage]) -> int:
    return sum(len(m.text) for m in messages)


def uses(*names: str, batch: bool = False) -> list[Any]:
    """Calls of tools and their results of 100 characters, one reply for each or for all."""
    calls: list[Any] = [{"name": n, "args": {"q": n}, "id": f"c-{n}"} for n in names]
    results = [
        ToolMessage("r" * 100, tool_call_id=f"c-{n}", name=n, id=f"m-{n}", artifact=n)
        for n in names
    ]
    if batch:
        return [AIMessage("", tool_calls=calls), *results]
    pairs = zip(calls, results, strict=True)
    return [m for call, result in pairs for m in (AIMessage("", tool_calls=[call]), result)]


def texts(messages: list[Any]) -> list[str]:
    return ["cleared" if m.text == "[cleared]" else m.name for m in messages if m.type == "tool"]


def applied(edit: ClearToolUsesEdit, messages: list[Any]) -> list[Any]:
    edited = list(messages)
    edit.apply(edited, count_tokens=characters)
    return edited


def test_nothing_is_touched_up_to_the_limit() -> None:
    messages = uses("a", "b")
    edited = applied(ClearToolUsesEdit(trigger=200, keep=0), messages)

    assert all(a is b for a, b in zip(edited, messages, strict=True))


def test_all_but_the_newest_results_are_cleared() -> None:
    messages = uses("a", "b", "c")
    edited = applied(ClearToolUsesEdit(trigger=100, keep=1), messages)

    assert texts(edited) == ["cleared", "cleared", "c"]
    assert edited[1].artifact is None
    assert edited[1].response_metadata["context_editing"]["cleared"] is True
    assert messages[1].text == "r" * 100
    assert messages[1].artifact == "a"


def test_results_that_were_not_read_stay() -> None:
    messages = [*uses("old"), *uses("a", "b", "c", batch=True)]

    assert texts(applied(ClearToolUsesEdit(trigger=1, keep=1), messages)) == [
        "cleared",
        "a",
        "b",
        "c",
    ]
    assert texts(applied(ClearToolUsesEdit(trigger=1, keep=0), messages)) == ["cleared"] * 4


def test_excluded_tools_and_orphans_stay() -> None:
    messages = [ToolMessage("x" * 50, tool_call_id="none", name="x"), *uses("a", "b")]
    edited = applied(ClearToolUsesEdit(trigger=1, keep=0, exclude_tools=["a"]), messages)

    assert texts(edited) == ["x", "a", "cleared"]


def test_clearing_stops_when_enough_is_reclaimed() -> None:
    edit = ClearToolUsesEdit(trigger=1, keep=0, clear_at_least=150)

    assert texts(applied(edit, uses("a", "b", "c"))) == ["cleared", "cleared", "c"]


def test_arguments_go_wherever_they_stand() -> None:
    messages = uses("a", "b", batch=True)
    messages[0] = messages[0].model_copy(
        update={"content": [{"type": "tool_use", "id": "c-a", "name": "a", "input": {"q": "a"}}]}
    )
    edit = ClearToolUsesEdit(trigger=1, keep=0, clear_tool_inputs=True)
    reply = applied(edit, messages)[0]

    assert [c["args"] for c in reply.tool_calls] == [{}, {}]
    assert reply.content[0]["input"] == {}
    assert reply.response_metadata["context_editing"]["cleared_tool_inputs"] == ["c-a", "c-b"]
    assert messages[0].tool_calls[0]["args"] == {"q": "a"}


def test_the_same_results_are_cleared_again_with_the_same_copies() -> None:
    messages, copies = uses("a", "b", "c"), Copies()
    edit = ClearToolUsesEdit(trigger=1, keep=1)
    first = list(messages)
    last = edit.clear(first, characters, copies)
    again = edit.clear_up_to([*messages, *uses("d")], str(last), copies)

    assert last == "m-b"
    assert again is not None
    assert texts(again) == ["cleared", "cleared", "c", "d"]
    assert all(a is b for a, b in zip(again, first, strict=False))


def test_progress_is_void_when_its_message_is_gone() -> None:
    assert ClearToolUsesEdit().clear_up_to([HumanMessage("x")], "m-b", Copies()) is None


def test_copies_end_with_their_originals() -> None:
    made: list[int] = []

    def make() -> BaseMessage:
        made.append(1)
        return HumanMessage("copy")

    copies, message = Copies(), HumanMessage("x")
    copies.of(message, "v", make)
    copies.of(message, "v", make)
    assert len(made) == 1
    del message
    gc.collect()
    assert vars(copies)["_made"] == {}


@pytest.mark.parametrize("settings", [{"trigger": -1}, {"keep": 1.5}, {"clear_at_least": True}])
def test_wrong_numbers_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="whole number"):
        ClearToolUsesEdit(**settings)


def test_one_name_is_no_list_of_names() -> None:
    with pytest.raises(ConfigurationError, match="exclude_tools"):
        ClearToolUsesEdit(exclude_tools="search")
