from __future__ import annotations

import operator
import threading
from typing import Annotated, Any, NotRequired, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from pydantic import BaseModel

from interlock.state import (
    AgentState,
    InvalidInputError,
    InvalidInputTypeError,
    InvalidUpdateError,
    State,
    StateSchemaError,
    merge_lists,
    replace_values,
)


def total(current: int | None, new: int) -> int:
    return (current or 0) + new


SCHEMA: dict[str, Any] = {
    "docs": {"type": list[str]},
    "topic": {"type": str},
    "seen": {"type": int, "handler": total},
}


def test_a_list_grows_and_another_value_is_replaced() -> None:
    state = State(SCHEMA)
    state.set("docs", ["a"])
    state.set("docs", ["b", "c"])
    state.set("topic", "x")
    state.set("topic", "y")
    assert state.data == {"docs": ["a", "b", "c"], "topic": "y"}


def test_a_single_value_is_appended_and_none_adds_nothing() -> None:
    state = State(SCHEMA, {"docs": ["a"]})
    state.set("docs", "b")
    state.set("docs", None)
    state.set("docs", ("c",))
    assert state["docs"] == ["a", "b", "c"]


def test_a_handler_begins_with_none() -> None:
    state = State(SCHEMA)
    state.set("seen", 2)
    state.set("seen", 3)
    assert state["seen"] == 5


def test_an_override_takes_the_place_of_the_handler_once() -> None:
    state = State(SCHEMA, {"docs": ["a"], "topic": "x"})
    state.set("docs", ["z"], handler_override=replace_values)
    state.set("docs", ["b"])
    state.set("topic", "y", handler_override=lambda current, new: current + new)
    assert (state["docs"], state["topic"]) == (["z", "b"], "xy")


def test_an_override_of_a_key_without_a_value_is_given_none() -> None:
    given: list[Any] = []

    def note(current: Any, new: Any) -> Any:
        given.append(current)
        return new

    State(SCHEMA).set("topic", "x", note)
    assert given == [None]


@pytest.mark.parametrize("kind", [list[str] | None, dict[str, list[str]]], ids=repr)
def test_what_is_no_plain_list_is_replaced(kind: Any) -> None:
    state = State({"value": {"type": kind}})
    state.set("value", None)
    assert state.has("value")
    assert state["value"] is None


def test_messages_are_always_there_and_merged_by_id() -> None:
    state = State({})
    state.set("messages", [HumanMessage("a", id="1")])
    state.set("messages", AIMessage("b"))
    state.set("messages", [HumanMessage("new", id="1")])
    assert [m.text for m in state["messages"]] == ["new", "b"]


def test_messages_can_be_replaced_as_a_whole() -> None:
    state = State({}, {"messages": [HumanMessage("a"), HumanMessage("b")]})
    state.set("messages", [("user", "c")], handler_override=replace_values)
    assert [(m.text, bool(m.id)) for m in state["messages"]] == [("c", True)]


@pytest.mark.parametrize("wrong", [7, [object()]])
def test_what_is_no_message_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidUpdateError, match="'messages'"):
        State({}).set("messages", wrong)
    with pytest.raises(InvalidInputTypeError, match="'messages'"):
        State({}, {"messages": wrong})


def test_an_undeclared_key_is_refused() -> None:
    with pytest.raises(
        InvalidUpdateError, match=r"'topc', which is not declared.* Did .*'topic'\?$"
    ):
        State(SCHEMA).set("topc", "x")
    with pytest.raises(InvalidInputError, match=r"'topc'.*docs, topic, seen.* 'topic'\?$"):
        State(SCHEMA, {"topc": "x"})
    with pytest.raises(InvalidUpdateError, match="'x'"):
        State({}).set("x", 1)


def test_a_value_that_does_not_fit_its_type_changes_nothing() -> None:
    state = State(SCHEMA, {"docs": ["a"]})
    with pytest.raises(InvalidUpdateError, match=r"'docs'.*does not fit"):
        state.set("docs", [7])
    with pytest.raises(InvalidInputTypeError, match="'topic'"):
        State(SCHEMA, {"topic": ["x"]})
    assert state.data == {"docs": ["a"]}


def test_none_fits_every_type() -> None:
    state = State(SCHEMA, {"topic": None})
    assert (state.has("topic"), state.get("topic", "default")) == (True, None)
    assert (state.has("docs"), state.get("docs", "default")) == (False, "default")
    assert "topic" in state
    assert "docs" not in state


def test_a_failing_handler_is_named_and_changes_nothing() -> None:
    state = State({"n": {"type": int, "handler": operator.add}})
    with pytest.raises(InvalidUpdateError, match="'n' cannot be merged: TypeError"):
        state.set("n", 1)
    assert "n" not in state


@pytest.mark.parametrize("override", [7, "replace"])
def test_an_override_must_be_a_function(override: Any) -> None:
    with pytest.raises(InvalidUpdateError, match="handler_override is"):
        State(SCHEMA).set("topic", "x", override)


def test_a_handler_may_change_what_it_is_given() -> None:
    def add(current: Any, new: Any) -> Any:
        current = current if current is not None else {}
        current.update(new)
        return current

    first = {"a": [1]}
    state = State({"table": {"type": dict[str, list[int]], "handler": add}})
    state.set("table", first)
    state.set("table", {"b": [2]})
    assert first == {"a": [1]}
    assert state["table"] == {"a": [1], "b": [2]}


containers: st.SearchStrategy[Any] = st.recursive(
    st.integers(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)


def _spoil(value: Any) -> None:
    """Change every container in a value."""
    kind = cast("Any", type(value))
    if kind is dict:
        for item in value.values():
            _spoil(item)
        value["spoilt"] = True
    elif kind is list:
        for item in value:
            _spoil(item)
        value.append("spoilt")


@settings(max_examples=40)
@given(containers, st.sampled_from(["data", "set", "override"]))
def test_nobody_shares_a_container_with_the_state(value: Any, way: str) -> None:
    text = repr(value)
    schema = {"x": {"type": Any}}
    state = State(schema, {"x": value}) if way == "data" else State(schema)
    if way != "data":
        state.set("x", value, replace_values if way == "override" else None)
    _spoil(value)
    _spoil(state["x"])
    _spoil(state.get("x"))
    _spoil(state.data["x"])
    assert repr(state["x"]) == text


def test_the_callers_messages_schema_and_data_stay_as_they_are() -> None:
    message = HumanMessage("a")
    schema: dict[str, Any] = {"docs": {"type": list[str]}}
    data = {"messages": [message], "docs": ["a"]}
    state = State(schema, data)
    state.set("docs", ["b"])
    schema["docs"]["type"] = int
    state.schema["docs"]["type"] = int
    assert message.id is None
    assert data == {"messages": [message], "docs": ["a"]}
    assert state.schema["docs"] == {"type": list[str], "handler": merge_lists}


def test_objects_that_cannot_be_copied_are_handed_out_as_they_are() -> None:
    lock = threading.Lock()
    state = State({"lock": {"type": Any}}, {"lock": {"the": lock}})
    assert state["lock"]["the"] is lock
    assert state.get("lock", {})["the"] is lock


def test_all_data_is_read_only() -> None:
    data: Any = State(SCHEMA, {"topic": "x"}).data
    with pytest.raises(TypeError, match="does not support item assignment"):
        data["topic"] = "y"


def test_a_typed_dict_or_a_model_is_a_schema_too() -> None:
    class Typed(AgentState[Any]):
        log: NotRequired[Annotated[list[str], merge_lists]]
        last: NotRequired[str]

    class Model(BaseModel):
        messages: list[AnyMessage] = []
        count: int = 0

    typed, model = State(Typed), State(Model, {"count": 3})
    typed.set("log", "a")
    typed.set("log", "b")
    typed.set("last", "x")
    assert typed.data == {"log": ["a", "b"], "last": "x"}
    with pytest.raises(InvalidUpdateError, match="'count'"):
        model.set("count", "many")


@pytest.mark.parametrize("schema", [7, "docs", list])
def test_what_is_no_schema_is_refused(schema: Any) -> None:
    with pytest.raises(StateSchemaError):
        State(schema)


updates = st.lists(
    st.tuples(st.sampled_from(["docs", "topic"]), st.lists(st.text(max_size=2), max_size=3)),
    max_size=8,
)


@settings(max_examples=50)
@given(updates)
def test_a_state_is_what_its_handlers_make_of_its_updates(steps: list[tuple[str, Any]]) -> None:
    schema = {"docs": {"type": list[str]}, "topic": {"type": list[str], "handler": replace_values}}
    state, docs, topic = State(schema), list[str](), None
    for key, value in steps:
        state.set(key, value)
        docs = docs + value if key == "docs" else docs
        topic = value if key == "topic" else topic
        assert (state.get("docs", []), state.get("topic")) == (docs, topic)
