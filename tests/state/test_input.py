from __future__ import annotations

from traceback import format_exception
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from pydantic import BaseModel

from interlock.state import (
    AgentState,
    InvalidInputError,
    InvalidInputTypeError,
    PrivateStateAttr,
    merge_schemas,
)
from interlock.state.input import InputCheck


class Cart(AgentState):
    total: float
    inner: Annotated[str, PrivateStateAttr]


class Strict(BaseModel):
    messages: list[Any]
    total: float = 0.0


def check(value: Any, schema: Any = Cart) -> dict[str, Any]:
    return InputCheck(merge_schemas([schema]))(value)


@pytest.mark.parametrize(
    "messages",
    [
        "hi",
        ["hi"],
        ("user", "hi"),
        [("user", "hi")],
        [{"role": "user", "content": "hi"}],
        HumanMessage("hi"),
    ],
)
def test_messages_are_taken_in_every_notation(messages: Any) -> None:
    (message,) = check({"messages": messages})["messages"]
    assert (message.type, message.text, bool(message.id)) == ("human", "hi", True)


def test_the_messages_of_the_caller_are_not_changed() -> None:
    mine = HumanMessage("hi")
    given = [mine]
    check({"messages": given})
    assert mine.id is None
    assert given == [mine]


@pytest.mark.parametrize("value", [None, 3, "hi", [HumanMessage("hi")]])
def test_what_is_no_state_is_refused(value: Any) -> None:
    with pytest.raises(InvalidInputTypeError, match=type(value).__name__):
        check(value)


@pytest.mark.parametrize("value", [{}, {"messages": None}, {"total": 1.0}])
def test_missing_messages_are_refused(value: Any) -> None:
    with pytest.raises(InvalidInputError, match="'messages'"):
        check(value)


@pytest.mark.parametrize("key", ["totl", "stop_run", "remaining_steps"])
def test_keys_that_nobody_declares_are_refused(key: str) -> None:
    with pytest.raises(InvalidInputError, match=f"no key '{key}'; .* takes messages, total") as e:
        check({"messages": "hi", key: "x"})
    assert e.value.key == key


@pytest.mark.parametrize(
    "key", ["inner", "jump_to", "structured_response", "step_count", "run_ledger"]
)
def test_declared_keys_that_are_no_input_are_left_out(key: str) -> None:
    given = {"messages": "hi", "total": 1.0, key: "x"}
    assert check(given).keys() == {"messages", "total"}
    assert key in given


def test_a_value_of_a_wrong_type_is_refused() -> None:
    with pytest.raises(InvalidInputTypeError, match=r"'total'.*Cart"):
        check({"messages": "hi", "total": "much"})


def test_a_typed_dict_checks_values_without_changing_them() -> None:
    assert check({"messages": "hi", "total": "3.5"})["total"] == "3.5"


def test_a_model_converts_values() -> None:
    assert check({"messages": "hi", "total": "3.5"}, Strict)["total"] == 3.5


@pytest.mark.parametrize(
    "entry", [{"role": "wizard", "content": "x"}, 7, object(), {"content": "x"}, [1, 2, 3]]
)
def test_an_entry_that_is_no_message_is_named_by_position(entry: Any) -> None:
    with pytest.raises(InvalidInputError, match="Entry 1"):
        check({"messages": [HumanMessage("fine"), entry]})


def test_a_cyclic_structure_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(InvalidInputError):
        check({"messages": [loop]})


@pytest.mark.parametrize("content", ["half \ud83d", [{"type": "text", "text": "\ud83d"}]])
def test_text_that_is_no_unicode_is_refused(content: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"Entry 0.*surrogate"):
        check({"messages": [AIMessage(content)]})


def test_removals_pass() -> None:
    assert check({"messages": [RemoveMessage(id="a")]})["messages"][0].id == "a"


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"content": "s3cret"}, "dict with the keys content"),
        ({"content": "s3cret", "role": 7}, "dict with the keys content, role"),
        ({"role": "robot", "content": "s3cret"}, "role 'robot'"),
        (("robot", "s3cret"), "tuple with the role 'robot'"),
        ({"role": "tool", "content": "s3cret"}, "lacks 'tool_call_id'"),
        ({"role": "user", "content": {"a": "s3cret"}}, "role 'user'.*valid string"),
        (["robot", "hello", "s3cret"], "list"),
        (b"s3cret", "bytes"),
        ({}, "empty dict"),
    ],
)
def test_a_refused_message_is_described_without_its_content(entry: Any, told: str) -> None:
    with pytest.raises(InvalidInputError, match=rf"is no message \(.*{told}.*\)") as caught:
        check({"messages": [entry]})
    assert "s3cret" not in "".join(format_exception(caught.value))
