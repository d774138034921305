"""Commands of tools for the graph around: which count, and what they become."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.types import Command, Send

from interlock.graph.hand_over import (
    HandOver,
    PrivateHandOver,
    as_shown,
    chosen,
    commands,
    refusals,
    shown_as,
    waiting,
)

PARENT = Command.PARENT


def entry(goto: Any, kind: type[Command[Any]] = HandOver, ident: str = "c1", update: Any = None) -> Any:  # fmt: skip
    call: Any = {"name": "go", "args": {}, "id": ident, "type": "tool_call"}
    return waiting(call, kind(graph=PARENT, goto=goto, update=update))


A, B = entry("a"), entry("b", ident="c2")
SEND_A, SEND_B = (entry([Send("work", {"n": n})], Command, f"c{n}") for n in (3, 4))


@pytest.mark.parametrize(
    ("entries", "kept"),
    [
        ([], []),
        ([A], [A]),
        ([A, B], [A]),
        ([SEND_A, SEND_B], [SEND_A, SEND_B]),
        ([SEND_A, B, SEND_B], [SEND_A, SEND_B]),
        ([A, SEND_A], [A]),
    ],
)
def test_the_first_command_counts_with_all_that_send_out_work(entries: Any, kept: Any) -> None:
    assert chosen(entries) == kept


def test_a_command_waits_as_plain_data() -> None:
    assert entry("a", Command, update={"n": 1}) == {
        "tool": "go", "call": "c1", "graph": PARENT, "goto": "a", "update": {"n": 1}, "history": None,
    }  # fmt: skip
    assert [entry("a", kind)["history"] for kind in (HandOver, PrivateHandOver)] == [True, False]


def test_results_go_along_with_the_conversation_under_the_update() -> None:
    results = {"messages": [HumanMessage("hi")], "ticket": "1", "exit_reason": "go"}
    update = {"messages": [HumanMessage("do")], "ticket": "2"}
    (command,) = commands([entry("a", update=update)], results)
    assert (command.graph, command.goto) == (PARENT, "a")
    made: Any = command.update
    assert [m.text for m in made.pop("messages")] == ["hi", "do"]
    assert made == {"ticket": "2", "exit_reason": "go"}


@pytest.mark.parametrize("kind", [PrivateHandOver, Command])
def test_without_the_conversation_only_the_update_goes(kind: Any) -> None:
    (command,) = commands([entry("a", kind, update={"n": 1})], {"messages": [], "ticket": "1"})
    assert command.update == {"n": 1}


def test_work_that_several_send_out_becomes_one_command() -> None:
    (command,) = commands([SEND_A, SEND_B], {})
    assert command.goto == [Send("work", {"n": 3}), Send("work", {"n": 4})]


def test_nothing_waits_without_a_command() -> None:
    assert commands([], {"messages": []}) == []


def test_only_hand_overs_that_do_not_happen_say_so() -> None:
    messages = [
        AIMessage(""),
        *(ToolMessage("done", tool_call_id=i, id=i) for i in ("c1", "c2", "c3")),
    ]
    changed: Any = refusals(messages, [B, SEND_A], "no")
    assert [(m.id, m.text, m.status) for m in changed] == [("c2", "no", "error")]


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        ("office:1|model:2", {"answer": 1}),
        ("office|model:2", {"answer": 1}),
        ("office:1|tools:2|helper:c|model:3", {"n": 1}),
        ("other:1|model:2", {"n": 1}),
    ],
)
def test_results_look_different_only_to_the_graph_right_around(place: str, shown: Any) -> None:
    node: Any = {"configurable": {"checkpoint_ns": "office:1"}}
    around = shown_as(node, lambda results: {"answer": results["n"]})
    inside: Any = {"configurable": {**around["configurable"], "checkpoint_ns": place}}  # pyright: ignore[reportTypedDictNotRequiredAccess]
    assert as_shown(inside, {"n": 1}) == shown
