from __future__ import annotations

import operator
from typing import Annotated, Any, cast

import pytest
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langgraph.channels.last_value import LastValue
from langgraph.graph import StateGraph
from langgraph.types import Overwrite
from pydantic import BaseModel

from interlock.state import AgentState, InvalidUpdateError, merge_schemas
from interlock.state.reducers import HandledBy
from interlock.state.working import KeyRules, WorkingState


class Logged(AgentState):
    log: Annotated[list[str], operator.add]
    last: str


class Strict(BaseModel):
    messages: list[Any]
    count: int = 0


def rules_of(schema: Any) -> KeyRules:
    merged = merge_schemas([schema])
    graph = cast("Any", StateGraph(merged.state))
    validators = {
        k: a for k, f in merged.fields.items() if f.validated and (a := f.adapter()) is not None
    }
    return KeyRules(graph.channels, validators, frozenset({"step_count", "run_ledger"}))


RULES = rules_of(Logged)


def working(**values: Any) -> WorkingState:
    return WorkingState({"messages": [HumanMessage("q", id="q")], **values}, RULES)


def test_an_update_is_seen_at_once_with_its_reducer() -> None:
    work = working(log=["a"])
    work.apply({"log": ["b"], "last": "x"}, "hook")
    assert work.snapshot()["log"] == ["a", "b"]
    assert work.snapshot()["last"] == "x"


def test_the_first_value_of_a_reduced_key_starts_from_nothing() -> None:
    work = working()
    work.apply({"log": ["a"]}, "hook")
    assert work.values["log"] == ["a"]


def test_the_values_that_came_in_are_not_changed() -> None:
    log = ["a"]
    values: dict[str, Any] = {"messages": [HumanMessage("q", id="q")], "log": log}
    work = WorkingState(values, RULES)
    work.apply({"log": ["b"], "messages": [AIMessage("x")]}, "hook")
    work.snapshot()["log"].append("leak")
    work.snapshot()["messages"].clear()
    assert log == ["a"]
    assert len(values["messages"]) == 1
    assert work.values["log"] == ["a", "b"]


def test_several_updates_of_a_key_are_one_write() -> None:
    work = working(log=[])
    work.apply({"log": ["a"], "last": "1"}, "hook")
    work.apply({"last": "2"}, "hook")
    work.apply({"log": ["b"], "last": "3"}, "hook")
    assert work.take_writes() == [{"log": ["a", "b"], "last": "3"}]
    assert work.take_writes() == []


def test_messages_of_several_updates_are_one_write() -> None:
    work = working()
    work.apply({"messages": AIMessage("a", id="a")}, "hook")
    work.apply({"messages": [("user", "b")]}, "hook")
    (update,) = work.take_writes()
    assert [m.text for m in update["messages"]] == ["a", "b"]
    assert all(m.id for m in update["messages"])


def test_an_overwrite_replaces_everything_before_it() -> None:
    work = working(log=["a"])
    work.apply({"log": ["b"], "messages": [AIMessage("x")]}, "hook")
    work.apply(
        {"log": Overwrite(["z"]), "messages": Overwrite([HumanMessage("n", id="n")])}, "hook"
    )
    work.apply({"messages": [AIMessage("y", id="y")]}, "hook")
    assert work.values["log"] == ["z"]
    assert [m.id for m in work.messages] == ["n", "y"]


def test_what_comes_after_an_overwrite_is_part_of_it() -> None:
    work = working(log=["a"])
    work.apply({"log": Overwrite(["z"])}, "hook")
    work.apply({"log": ["b"]}, "hook")
    assert work.values["log"] == ["z", "b"]
    assert work.take_writes() == [{"log": Overwrite(["z", "b"])}]


def test_a_function_of_its_own_merges_an_update_once() -> None:
    work = working(log=["a"], last="x")
    merge = HandledBy(["b"], lambda current, new: [*new, *current])
    work.apply({"log": merge, "last": HandledBy("y", lambda current, new: current + new)}, "hook")
    work.apply({"log": ["c"]}, "hook")
    assert (work.values["log"], work.values["last"]) == (["b", "a", "c"], "xy")
    assert work.take_writes() == [{"log": Overwrite(["b", "a", "c"]), "last": "xy"}]


def test_a_saved_state_comes_back_as_it_was() -> None:
    work = working(log=["a"])
    work.apply({"log": ["b"], "messages": [AIMessage("x", id="x")]}, "hook")
    saved, seen = work.save(), work.snapshot()
    work.apply({"log": Overwrite([]), "last": "y", "messages": [RemoveMessage(id="x")]}, "hook")
    assert work.changed_since(saved)
    work.restore(saved)
    assert not work.changed_since(saved)
    assert work.snapshot() == seen
    work.apply({"messages": [AIMessage("new", id="x")]}, "hook")
    assert [m.text for m in work.messages] == ["q", "new"]
    assert [update["log"] for update in work.take_writes()] == [["b"]]


def test_a_message_with_a_known_id_takes_its_place() -> None:
    work = working()
    work.append([AIMessage("a", id="a")])
    work.apply({"messages": [HumanMessage("new", id="q"), AIMessage("b", id="a")]}, "hook")
    assert [m.text for m in work.messages] == ["new", "b"]


def test_a_message_to_remove_must_be_there() -> None:
    with pytest.raises(InvalidUpdateError, match=r"hook wants to remove.*'nope'"):
        working().apply({"messages": [RemoveMessage(id="nope")]}, "hook")


@pytest.mark.parametrize(
    ("key", "why"), [("lgo", "is not declared"), ("step_count", "the library")]
)
def test_a_key_that_may_not_be_written_is_named(key: str, why: str) -> None:
    with pytest.raises(
        InvalidUpdateError, match=f"Guard.before_model wrote.*'{key}'.*{why}"
    ) as caught:
        working().apply({key: 1}, "Guard.before_model")
    assert (caught.value.owner, caught.value.key) == ("Guard.before_model", key)


@pytest.mark.parametrize(("key", "meant"), [("lst", "last"), ("hiden", "hidden"), ("x", None)])
def test_an_undeclared_key_is_met_with_the_public_ones_and_the_one_that_may_be_meant(
    key: str, meant: str | None
) -> None:
    rules = KeyRules(
        dict.fromkeys(("last", "log", "hidden", "own"), LastValue(str)),
        {},
        frozenset({"own"}),
        frozenset({"hidden"}),
    )
    with pytest.raises(InvalidUpdateError) as caught:
        WorkingState({}, rules).apply({key: 1}, "Guard.before_model")
    hint = f" Did you mean {meant!r}?" if meant else ""
    assert str(caught.value).endswith(f"the declared keys are last, log.{hint}")


@pytest.mark.parametrize("value", [7, [object()], {"role": "wizard", "content": ""}])
def test_what_is_no_message_is_refused(value: Any) -> None:
    with pytest.raises(InvalidUpdateError, match="no message"):
        working().apply({"messages": value}, "hook")


def test_a_model_checks_and_converts_each_update() -> None:
    work = WorkingState({"messages": []}, rules_of(Strict))
    work.apply({"count": "3"}, "hook")
    assert work.values["count"] == 3
    assert work.take_writes() == [{"count": 3}]
    with pytest.raises(InvalidUpdateError, match="'count'"):
        work.apply({"count": "many"}, "hook")


def test_what_is_only_shown_is_not_written() -> None:
    work = working()
    work.show({"step_count": 2})
    assert work.snapshot()["step_count"] == 2
    assert not work.changed
