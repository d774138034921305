from __future__ import annotations

import os
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde import jsonplus
from langgraph.checkpoint.serde.jsonplus import (
    EXT_CONSTRUCTOR_SINGLE_ARG,
    JsonPlusSerializer,
)
from pydantic import BaseModel

from interlock.state.errors import UnstorableValueError
from interlock.state.serializer import StrictSerializer
from interlock.state.storage import check_storable, declared_types, strict_checkpointer

ormsgpack: Any = vars(jsonplus)["ormsgpack"]


class Color(Enum):
    RED = "red"


class Point(BaseModel):
    x: int
    color: Color = Color.RED


@dataclass
class Progress:
    total: int
    done: int = field(default=0, init=False)


def round_trip(serializer: StrictSerializer, value: Any) -> Any:
    return serializer.loads_typed(serializer.dumps_typed(value))


def test_declared_types_are_found_inside_generics_and_models() -> None:
    found = declared_types([Annotated[dict[str, list[Point | None]], "x"], Progress])
    assert found >= {Point, Color, Progress}


@pytest.mark.parametrize("value", [Point(x=1), Color.RED, [Point(x=2)], {"a": Point(x=3)}])
def test_declared_types_come_back_as_they_were(value: Any) -> None:
    assert round_trip(StrictSerializer(declared_types([Point])), value) == value


def test_fields_that_a_constructor_does_not_take_come_back() -> None:
    progress = Progress(3)
    progress.done = 2
    loaded = round_trip(StrictSerializer([Progress]), progress)
    assert (loaded.total, loaded.done) == (3, 2)


def test_a_class_inside_a_function_comes_back() -> None:
    class Local(BaseModel):
        a: int

    assert round_trip(StrictSerializer([Local]), Local(a=1)) == Local(a=1)


def test_messages_come_back_with_everything_on_them() -> None:
    messages = [
        HumanMessage("hi", id="1", additional_kwargs={"a": 1}),
        AIMessage(
            "",
            id="2",
            tool_calls=[{"name": "t", "args": {"q": [1]}, "id": "c", "type": "tool_call"}],
            usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
        ),
        ToolMessage("r", tool_call_id="c", id="3", status="error", artifact={"b": 2}),
    ]
    loaded = round_trip(StrictSerializer([]), messages)
    assert loaded == messages
    assert [type(m) for m in loaded] == [type(m) for m in messages]


@pytest.mark.parametrize(
    ("module", "name"), [("os", "system"), ("os", "getenv"), ("builtins", "eval")]
)
def test_stored_bytes_that_name_a_function_call_nothing(
    module: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[Any] = []
    monkeypatch.setattr(os, "system", called.append)
    monkeypatch.setattr(os, "getenv", called.append)
    inner = ormsgpack.packb((module, name, "1"))
    crafted = ormsgpack.packb({"x": ormsgpack.Ext(EXT_CONSTRUCTOR_SINGLE_ARG, inner)})
    assert StrictSerializer([Point]).loads_typed(("msgpack", crafted)) == {"x": "1"}
    assert called == []


def test_data_that_looks_like_a_secret_stays_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HIDDEN", "value")
    bait = {"lc": 1, "type": "secret", "id": ["HIDDEN"]}
    assert round_trip(StrictSerializer([]), bait) == bait


def test_the_permissive_default_is_replaced_in_a_copy() -> None:
    saver = InMemorySaver()
    strict = strict_checkpointer(saver, [Point])
    assert isinstance(strict.serde, StrictSerializer)
    assert type(saver.serde) is JsonPlusSerializer
    assert strict.storage is saver.storage


def test_a_serializer_that_was_chosen_stays() -> None:
    saver = InMemorySaver(serde=JsonPlusSerializer(allowed_msgpack_modules=None))
    assert strict_checkpointer(saver, []) is saver


@pytest.mark.parametrize("value", [None, True, False])
def test_what_is_no_checkpointer_stays(value: Any) -> None:
    assert strict_checkpointer(value, []) is value


@pytest.mark.parametrize(
    "value", [object(), [Progress(1)], {"deep": {"deeper": (Progress(1),)}}, lambda: None]
)
def test_a_value_that_cannot_be_stored_is_named(value: Any) -> None:
    with pytest.raises(UnstorableValueError, match="'progress'") as caught:
        check_storable({"progress": value}, frozenset())
    assert caught.value.key == "progress"
    assert caught.value.type_name.rpartition(".")[2] in {"object", "Progress", "function"}


def test_an_artifact_that_cannot_be_stored_is_named() -> None:
    message = ToolMessage("x", tool_call_id="c", artifact=object())
    with pytest.raises(UnstorableValueError, match=r"builtins\.object"):
        check_storable({"messages": [message]}, frozenset())


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(plain)
def test_plain_data_is_storable_and_comes_back(value: Any) -> None:
    check_storable({"x": value}, frozenset())
    assert round_trip(StrictSerializer([]), value) == value
