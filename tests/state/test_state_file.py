from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, List  # noqa: UP035 - a notation people use

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from pydantic import BaseModel

from interlock.state import (
    InvalidInputError,
    InvalidInputTypeError,
    InvalidUpdateError,
    State,
    StateSchemaError,
    merge_lists,
    replace_values,
)


class Doc(BaseModel):
    text: str


@dataclass
class Place:
    city: str


def longest(current: Any, new: Any) -> Any:
    return max(current or "", new, key=len)


SCHEMA: dict[str, Any] = {
    "docs": {"type": list[Doc]},
    "place": {"type": Place},
    "when": {"type": datetime | None},
    "names": {"type": List[str], "handler": replace_values},  # noqa: UP006
    "best": {"type": str, "handler": longest},
}
NAMES: dict[str, Any] = {"types": {"Doc": Doc, "Place": Place}, "handlers": {"longest": longest}}


def test_a_state_survives_a_file_and_goes_on_merging() -> None:
    data = {
        "docs": [Doc(text="a")],
        "place": Place("Oslo"),
        "when": datetime(2026, 1, 2, tzinfo=UTC),
        "names": ["x"],
        "best": "ab",
        "messages": [
            HumanMessage("go", id="1"),
            AIMessage("", tool_calls=[{"name": "t", "args": {"q": 1}, "id": "c"}], id="2"),
            ToolMessage("r", tool_call_id="c", id="3", artifact={"n": 1}),
        ],
    }
    state = State(SCHEMA, data)
    again = State.from_dict(json.loads(json.dumps(state.to_dict(**NAMES))), **NAMES)
    assert again.data == state.data
    again.set("docs", [Doc(text="b")])
    again.set("names", ["y"])
    again.set("best", "a")
    assert [d.text for d in again["docs"]] == ["a", "b"]
    assert (again["names"], again["best"]) == (["y"], "ab")


def test_the_schema_is_written_by_name() -> None:
    written = State(SCHEMA).to_dict(**NAMES)
    assert written == {
        "schema": {
            "messages": {"type": "list[AnyMessage]", "handler": "add_messages"},
            "docs": {"type": "list[Doc]", "handler": "merge_lists"},
            "place": {"type": "Place", "handler": "replace_values"},
            "when": {"type": "datetime | None", "handler": "replace_values"},
            "names": {"type": "list[str]", "handler": "replace_values"},
            "best": {"type": "str", "handler": "longest"},
        },
        "data": {},
    }


def test_keys_can_be_skipped() -> None:
    state = State({"a": {"type": str}, "b": {"type": str}}, {"a": "1", "b": "2"})
    written = state.to_dict(skip_keys=["a", "messages"])
    assert written == {
        "schema": {"b": {"type": "str", "handler": "replace_values"}},
        "data": {"b": "2"},
    }


def test_a_value_that_cannot_be_written_is_left_out_with_a_warning() -> None:
    state = State({"lock": {"type": Any}, "a": {"type": str}}, {"lock": threading.Lock(), "a": "1"})
    with pytest.warns(UserWarning, match="'lock' is left out"):
        written = state.to_dict()
    assert written["data"] == {"a": "1"}
    assert State.from_dict(written).data == {"a": "1"}


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({"type": "Doc"}, r"'Doc' is not known; give types=\{'Doc'"),
        ({"type": "os.system"}, "'os.system' is not known"),
        ({"type": "str", "handler": "os.system"}, "handler 'os.system' of state key 'x'"),
        ({"handler": "merge_lists"}, "without a 'type'"),
        ("str", "without a 'type'"),
        ({"type": 7}, "at most 1000 characters"),
        ({"type": "int", "handler": ["merge_lists"]}, "handler"),
    ],
)
def test_nothing_unknown_is_looked_up(entry: Any, why: str) -> None:
    with pytest.raises(StateSchemaError, match=why):
        State.from_dict({"schema": {"x": entry}, "data": {}})


def test_a_handler_without_a_name_is_refused() -> None:
    state = State({"n": {"type": int, "handler": partial(longest)}})
    with pytest.raises(StateSchemaError, match="'n' has no name"):
        state.to_dict()


@pytest.mark.parametrize("stored", [[], "x", {"schema": []}, {"data": 7}])
def test_another_form_is_refused(stored: Any) -> None:
    with pytest.raises(InvalidInputError, match="a dict with 'schema' and 'data'"):
        State.from_dict(stored)


@pytest.mark.parametrize(
    "messages", [7, [7], [{"type": "wizard", "data": {}}], [{"type": "human"}], [{"data": {}}]]
)
def test_messages_that_are_none_are_refused(messages: Any) -> None:
    with pytest.raises(InvalidInputError, match="messages"):
        State.from_dict({"schema": {}, "data": {"messages": messages}})


def test_stored_values_are_checked_against_the_schema() -> None:
    stored = {"schema": {"n": {"type": "int"}}, "data": {"n": "many"}}
    with pytest.raises(InvalidInputTypeError, match="'n'"):
        State.from_dict(stored)


def in_list(value: Any) -> Any:
    return [value]


def in_dict(value: Any) -> Any:
    return {"a": value}


def nested(levels: int, around: Any = in_list) -> Any:
    value: Any = 0
    for _ in range(levels):
        value = around(value)
    return value


@pytest.mark.parametrize("levels", [300, 3_000, 100_000])
@pytest.mark.parametrize("around", [in_list, in_dict])
@pytest.mark.parametrize("place", ["data", "schema"])
def test_endless_nesting_is_refused(levels: int, around: Any, place: str) -> None:
    stored: dict[str, Any] = State({"x": {"type": Any}}).to_dict()
    stored[place]["x"] = nested(levels, around)
    with pytest.raises(InvalidInputError, match="more than 260 levels deep"):
        State.from_dict(stored)


def test_the_deepest_state_that_is_written_can_be_read() -> None:
    state = State({"x": {"type": Any}}, {"x": nested(254)})
    assert State.from_dict(state.to_dict()).data == state.data


def test_a_value_that_is_nested_too_deeply_is_refused_by_its_key() -> None:
    state = State({"x": {"type": Any}}, {"x": 1})
    with pytest.raises(InvalidUpdateError, match=r"State\.set gives state key 'x'"):
        state.set("x", nested(3_000))
    assert state.data == {"x": 1}
    with pytest.raises(InvalidInputTypeError, match="state key 'x'"):
        State({"x": {"type": Any}}, {"x": nested(3_000)})


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
)
entries = st.sampled_from(
    [
        {"type": Any, "handler": None},
        {"type": list, "handler": merge_lists},
        {"type": list[Any] | dict[str, Any] | None, "handler": replace_values},
    ]
)


@settings(max_examples=40)
@given(
    st.dictionaries(st.text(min_size=1, max_size=4), st.tuples(entries, json_values), max_size=4)
)
def test_any_state_comes_back_as_it_was(content: dict[str, tuple[Any, Any]]) -> None:
    schema = {key: entry for key, (entry, _) in content.items()}
    state = State(schema)
    for key, (entry, value) in content.items():
        if entry["type"] is Any or isinstance(value, (list, dict)):
            state.set(key, value)
    again = State.from_dict(json.loads(json.dumps(state.to_dict())))
    assert again.data == state.data
    assert again.to_dict() == state.to_dict()
