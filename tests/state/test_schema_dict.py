from __future__ import annotations

import operator
from typing import Annotated, Any, List, Optional, Union  # noqa: UP035 - the notations people use

import pytest
from langchain_core.messages import AnyMessage, BaseMessage, HumanMessage
from langgraph.graph.message import add_messages

from interlock.state import AgentState, StateSchemaError, merge_lists, merge_schemas, replace_values
from interlock.state.schema_dict import is_type, read_schema_dict, takes_lists


class Own:
    """A class of the program."""


@pytest.mark.parametrize(
    "kind",
    [
        *(int, str, list, dict, Own, Any, type(None)),
        *(list[str], dict[str, list[int]], tuple[int, ...], List[str]),  # noqa: UP006
        *(int | None, Optional[int], Union[str, list[int]], list[int | None]),  # noqa: UP007, UP045
        Annotated[int, "metres"],
    ],
    ids=repr,
)
def test_classes_generics_and_unions_are_types(kind: Any) -> None:
    assert is_type(kind)


@pytest.mark.parametrize(
    "value", [7, "str", None, Own(), [], Union, Optional, [int], lambda: int], ids=range(9)
)
def test_instances_names_and_bare_forms_are_no_types(value: Any) -> None:
    assert not is_type(value)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        *((list, True), (list[str], True), (List, True), (List[int], True)),  # noqa: UP006
        *((str, False), (dict[str, list[int]], False), (tuple[int, ...], False)),
        (list[str] | None, False),
    ],
    ids=repr,
)
def test_only_lists_take_lists(kind: Any, expected: bool) -> None:
    assert takes_lists(kind) is expected


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({"handler": merge_lists}, "has no 'type'"),
        ({"type": "str"}, "'str', which is no type"),
        ({"type": 7}, "7, which is no type"),
        ({"type": Union}, "which is no type"),
        ({"type": list, "handler": "merge"}, "has the handler 'merge'"),
        ({"type": list, "handlr": merge_lists}, r"'handlr'; did you mean 'handler'\?"),
        ({"type": list, "default": []}, "only 'type' and 'handler' are known"),
        (str, "give {'type': ...}"),
    ],
)
def test_an_entry_that_cannot_be_read_is_named(entry: Any, why: str) -> None:
    with pytest.raises(StateSchemaError, match=f"'docs' of the schema.*{why}") as caught:
        read_schema_dict({"docs": entry})
    assert caught.value.key == "docs"


@pytest.mark.parametrize("key", ["jump_to", "structured_response", 7, ""])
def test_a_key_that_is_taken_or_no_name_is_refused(key: Any) -> None:
    with pytest.raises(StateSchemaError, match=repr(key)):
        read_schema_dict({key: {"type": str}})


@pytest.mark.parametrize(
    "kind",
    [list[AnyMessage], list[BaseMessage], list[HumanMessage], List[AnyMessage]],  # noqa: UP006
    ids=range(4),
)
@pytest.mark.parametrize("handler", [None, merge_lists, add_messages], ids=["none", "lists", "ids"])
def test_messages_may_be_declared_and_stay_what_they_are(kind: Any, handler: Any) -> None:
    fields = read_schema_dict({"messages": {"type": kind, "handler": handler}})
    assert fields["messages"].reducer is add_messages


@pytest.mark.parametrize(
    "kind", [str, list, list[str], dict[str, AnyMessage], list[AnyMessage | str]], ids=range(5)
)
def test_messages_must_be_a_list_of_messages(kind: Any) -> None:
    with pytest.raises(StateSchemaError, match="must be a list of messages"):
        read_schema_dict({"messages": {"type": kind}})


def test_messages_take_no_handler_of_their_own() -> None:
    with pytest.raises(StateSchemaError, match="leave its handler out"):
        read_schema_dict({"messages": {"type": list[AnyMessage], "handler": replace_values}})


def test_a_reserved_key_is_refused_by_an_agent() -> None:
    with pytest.raises(StateSchemaError, match=r"'\{step_count, x\}' declares 'step_count'"):
        merge_schemas([{"step_count": {"type": int}, "x": {"type": int}}])


def test_two_schemas_must_agree_on_a_handler() -> None:
    class Typed(AgentState[Any]):
        log: Annotated[list[str], operator.add]

    same = {"log": {"type": list[str], "handler": operator.add}}
    assert "log" in merge_schemas([Typed, same]).fields
    with pytest.raises(
        StateSchemaError, match=r"'log' has different reducers in 'Typed' and '\{log\}'"
    ):
        merge_schemas([Typed, {"log": {"type": list[str]}}])


def test_a_schema_is_not_changed_by_being_read() -> None:
    schema: dict[str, Any] = {"docs": {"type": list[str]}, "n": {"type": int, "handler": None}}
    merge_schemas([schema])
    assert schema == {"docs": {"type": list[str]}, "n": {"type": int, "handler": None}}
