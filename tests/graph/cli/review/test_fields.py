"""Forms made of the JSON schemas that answers must fit."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel, Field

from interlock.graph import create_agent
from interlock.graph.cli.review.fields import FormField, answer_field, edit_forms
from interlock.graph.cli.review.sheet import field_of
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import HumanInTheLoopMiddleware


class Place(BaseModel):
    city: str


class Order(BaseModel):
    item: str = Field(description="What is ordered.")
    count: int
    weight: float = 0.5
    gift: bool = False
    speed: Literal["slow", "fast"] = "slow"
    coupon: str | None = None
    place: Place | None = None
    tags: list[str] = []
    either: int | str = 1


@tool(args_schema=Order)
def order(**_: Any) -> str:
    """Order something."""
    return "ordered"


@tool
def cancel(item: str) -> str:
    """Cancel an order."""
    return item


def pending(args: dict[str, Any], rule: Any = True, **options: Any) -> Any:
    """What waits for a call of ``order``."""
    call = {"name": "order", "args": args, "id": "c1", "type": "tool_call"}
    review = HumanInTheLoopMiddleware({"order": rule}, **options)
    tools: list[BaseTool] = [order, cancel]
    model = ScriptedChatModel([AIMessage("", tool_calls=[call])])
    agent = create_agent(model, tools, middleware=[review], checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "t"}}
    agent.invoke({"messages": "go"}, thread)
    return agent.pending(thread)[0]


@pytest.mark.parametrize("mode", ["batched", "per_call"])
def test_each_argument_gets_the_field_of_its_type(mode: Any) -> None:
    args = {"item": "mug", "count": 2}
    forms = edit_forms(pending(args, interrupt_mode=mode).schema, "order", args)
    assert list(forms) == ["order"]
    assert {f.name: f.kind for f in forms["order"]} == {
        "item": "text",
        "count": "integer",
        "weight": "number",
        "gift": "boolean",
        "speed": "choice",
        "coupon": "text",
        "place": "json",
        "tags": "json",
        "either": "json",
    }
    by_name = {f.name: f for f in forms["order"]}
    assert by_name["item"] == FormField("item", "text", hint="What is ordered.", required=True)
    assert by_name["speed"].choices == ("slow", "fast")
    assert (by_name["coupon"].nullable, by_name["weight"].default) == (True, 0.5)
    assert [f.name for f in forms["order"] if f.required] == ["item", "count"]


def test_argument_that_the_schema_does_not_name_is_not_hidden() -> None:
    args = {"item": "mug", "count": 2, "secretly": {"all": True}, "to": "me"}
    fields = edit_forms(pending(args).schema, "order", args)["order"]
    assert [(f.name, f.kind) for f in fields[-2:]] == [("secretly", "json"), ("to", "text")]


def test_edit_that_may_change_the_tool_has_a_form_for_each(
) -> None:  # fmt: skip
    args = {"item": "mug", "count": 2}
    forms = edit_forms(pending(args, allow_tool_change=True).schema, "order", args)
    assert {name: len(fields) for name, fields in forms.items()} == {"order": 9, "cancel": 1}


def test_without_an_edit_there_is_no_form() -> None:
    args = {"item": "mug", "count": 2}
    waiting = pending(args, {"allowed_decisions": ["approve", "reject"]})
    assert edit_forms(waiting.schema, "order", args) == {}


def test_only_edit_has_a_form() -> None:
    args = {"item": "mug", "count": 2}
    waiting = pending(args, {"allowed_decisions": ["edit"]})
    assert len(edit_forms(waiting.schema, "order", args)["order"]) == 9


CIRCLE = {"$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}, "$ref": "#/$defs/A"}


@pytest.mark.parametrize(
    "schema", [None, 5, [], {}, {"oneOf": 3}, {"properties": []}, CIRCLE, {"$defs": 1}], ids=str
)
def test_schema_that_says_nothing_gives_no_form_and_a_field_for_the_answer(schema: Any) -> None:
    assert edit_forms(schema, "order", {}) == {}
    assert asdict(answer_field(schema))["kind"] in ("text", "json")


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        (None, "text"),
        ({"type": "string"}, "text"),
        ({"type": "boolean"}, "boolean"),
        ({"enum": ["a", "b"]}, "choice"),
        ({"type": "object"}, "json"),
    ],
    ids=str,
)
def test_question_gets_the_field_of_its_answer(schema: Any, kind: str) -> None:
    assert answer_field(schema).kind == kind


WORDS = st.sampled_from(
    ["$defs", "$ref", "#/$defs/a", "a", "properties", "type", "edit", "const", "edited_action",
     "args", "name", "oneOf", "anyOf", "required", "enum", "null", "description", "default"]
)  # fmt: skip
ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=5),
    max_leaves=12,
)


@given(schema=ANYTHING, args=st.dictionaries(WORDS, ANYTHING, max_size=3))
def test_stored_schema_may_be_anything_and_no_argument_is_lost(schema: Any, args: Any) -> None:
    edit = {"properties": {"type": {"const": "edit"}, "edited_action": schema}}
    action = {"properties": {"name": {"const": "order"}, "args": schema}}
    whole = {"properties": {"type": {"const": "edit"}, "edited_action": action}}
    for shape in (schema, edit, whole):
        forms = edit_forms(shape, "order", args)
        text = json.dumps([field_of(f) for f in [*forms.get("order", []), answer_field(shape)]])
        assert json.loads(text)
    names = [f.name for f in edit_forms(whole, "order", args)["order"]]
    assert set(args) <= set(names)
