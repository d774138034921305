from __future__ import annotations

import operator
from dataclasses import dataclass, field
from typing import Annotated, Any, NotRequired

import pytest
from langchain.agents.middleware.types import PrivateStateAttr as Theirs
from langgraph.channels.binop import BinaryOperatorAggregate
from pydantic import BaseModel
from typing_extensions import TypedDict

from interlock.state import (
    RESERVED_KEYS,
    AgentState,
    OmitFromInput,
    OmitFromOutput,
    PrivateStateAttr,
    StateSchemaError,
    merge_lists,
    merge_schemas,
)
from interlock.state.channels import MessagesChannel


class Cart(AgentState):
    cart: list[str]
    secret: Annotated[str, PrivateStateAttr]
    shown: Annotated[int, OmitFromInput]
    given: Annotated[int, OmitFromOutput]


def keys(schema: type) -> set[str]:
    return set(schema.__annotations__)


def test_marks_decide_what_is_input_and_output() -> None:
    merged = merge_schemas([Cart])
    assert {"cart", "secret", "shown", "given", "messages"} <= keys(merged.state)
    assert {"cart", "given", "messages"} == keys(merged.input)
    assert {"cart", "shown", "messages", "structured_response"} <= keys(merged.output)
    assert not {"secret", "given", "jump_to"} & keys(merged.output)


def test_marks_made_for_langchain_count() -> None:
    class Foreign(AgentState):
        inner: Annotated[str, Theirs]

    merged = merge_schemas([Foreign])
    assert "inner" in keys(merged.state)
    assert "inner" not in keys(merged.input) | keys(merged.output)


def test_a_mark_is_kept_when_a_later_schema_repeats_the_key() -> None:
    class Again(AgentState):
        secret: str

    assert "secret" not in keys(merge_schemas([Cart, Again]).output)


@pytest.mark.parametrize("key", sorted(RESERVED_KEYS))
def test_keys_of_the_library_are_refused(key: str) -> None:
    schema = TypedDict("Mine", {"messages": list, key: int})  # type: ignore[misc, type-arg]  # pyright: ignore[reportArgumentType]
    with pytest.raises(StateSchemaError, match=f"'Mine' declares '{key}'"):
        merge_schemas([schema])


def test_different_reducers_of_one_key_are_refused_with_both_owners() -> None:
    class One(AgentState):
        log: Annotated[list[str], operator.add]

    class Two(AgentState):
        log: Annotated[list[str], merge_lists]

    with pytest.raises(StateSchemaError, match="'One' and 'Two'") as caught:
        merge_schemas([One, Two])
    assert caught.value.owners == ("One", "Two")
    assert caught.value.key == "log"


def test_the_same_reducer_in_two_schemas_is_fine() -> None:
    class One(AgentState):
        log: Annotated[list[str], operator.add]

    class Two(AgentState):
        log: Annotated[list[str], operator.add]

    assert merge_schemas([One, Two]).fields["log"].owner == "Two"


@dataclass
class AsDataclass:
    messages: list[Any]
    log: Annotated[list[str], operator.add] = field(default_factory=list[str])
    count: int = 3


class AsModel(BaseModel):
    messages: list[Any]
    log: Annotated[list[str], operator.add] = []
    count: int = 3


class AsTypedDict(AgentState):
    log: Annotated[list[str], operator.add] = []  # type: ignore[misc]  # noqa: RUF012 - defaults are copied  # pyright: ignore[reportGeneralTypeIssues]
    count: int = 3  # type: ignore[misc]  # pyright: ignore[reportGeneralTypeIssues]


@pytest.mark.parametrize("schema", [AsDataclass, AsModel, AsTypedDict])
def test_any_kind_of_schema_keeps_reducers_and_defaults(schema: Any) -> None:
    merged = merge_schemas([schema])
    assert merged.fields["log"].reducer is operator.add
    makers = {k: f.default for k, f in merged.fields.items()}
    assert makers["count"] is not None
    assert makers["count"]() == 3
    assert makers["log"] is not None
    first = makers["log"]()
    first.append("x")
    assert makers["log"]() == [], "two runs share a default"


def test_messages_become_the_channel_that_appends() -> None:
    annotation = merge_schemas([AgentState]).state.__annotations__["messages"]
    assert any(isinstance(m, MessagesChannel) for m in annotation.__args__[0].__metadata__)


def test_messages_may_be_stored_whole() -> None:
    annotation = merge_schemas([AgentState], "full").state.__annotations__["messages"]
    assert isinstance(annotation.__args__[0].__metadata__[0], BinaryOperatorAggregate)


@pytest.mark.parametrize("schema", [int, "State", ["messages"]])
def test_what_is_no_schema_is_refused(schema: Any) -> None:
    with pytest.raises(TypeError, match="TypedDict"):
        merge_schemas([schema])


def test_an_annotation_that_cannot_be_resolved_is_named() -> None:
    class Broken(TypedDict):
        messages: list[Any]
        x: NotRequired[Nowhere]  # type: ignore[name-defined]  # noqa: F821  # pyright: ignore[reportUndefinedVariable, reportUnknownVariableType]

    with pytest.raises(StateSchemaError, match=r"'Broken'.*Nowhere"):
        merge_schemas([Broken])
