"""The types of answers, and the JSON schemas that clients draw forms from."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.tools import StructuredTool, tool
from pydantic import TypeAdapter, ValidationError

from interlock.middleware.approval.answer_schema import answer_type, decision_type
from interlock.middleware.approval.decision import DECISION_TYPES, DecisionType
from interlock.tools.schema_fit import first_problem


@tool
def send(to: str, copies: int = 1) -> str:
    """Send a letter."""
    return f"{to} {copies}"


def draw(**values: Any) -> str:
    return str(values)


DRAWN = StructuredTool(
    name="draw",
    description="Draw.",
    func=draw,
    args_schema={"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
)


def accepts(kind: Any, value: Any) -> bool:
    try:
        TypeAdapter(kind).validate_python(value)
    except ValidationError:
        return False
    return True


def edit(name: str, **args: Any) -> dict[str, Any]:
    return {"type": "edit", "edited_action": {"name": name, "args": args}}


@pytest.mark.parametrize(
    ("decision", "accepted"),
    [
        ({"type": "approve"}, True),
        ({"type": "approve", "message": "note"}, True),
        ({"type": "approve", "extra": 1}, False),
        ({"type": "reject"}, True),
        ({"type": "respond"}, False),
        ({"type": "respond", "message": "x"}, True),
        (edit("send", to="b"), True),
        (edit("send", copies=2), False),
        (edit("send", to="b", copies="many"), False),
        (edit("burn", to="b"), False),
        ({"type": "Approve"}, False),
        ({}, False),
        (None, False),
        ("approve", False),
    ],
    ids=str,
)
def test_decision_must_be_of_a_known_form(decision: Any, accepted: bool) -> None:
    kind = decision_type(DECISION_TYPES, {"send": send})
    schema = TypeAdapter(kind).json_schema()
    assert accepts(kind, decision) is accepted
    assert (first_problem(decision, schema) is None) is accepted


def test_edit_of_a_tool_with_a_json_schema_is_checked_too() -> None:
    kind = decision_type(["edit"], {"draw": DRAWN})
    assert accepts(kind, edit("draw", x=1))
    assert not accepts(kind, edit("draw", x="one"))
    assert not accepts(kind, edit("draw"))


def test_edit_may_name_several_tools_each_with_its_own_arguments() -> None:
    kind = decision_type(["edit"], {"send": send, "draw": DRAWN})
    assert accepts(kind, edit("draw", x=1))
    assert not accepts(kind, edit("send", x=1))


def test_answer_comes_back_as_it_was_sent() -> None:
    sent = {"decisions": [edit("send", to="b", copies="2", more=1)]}
    kind = answer_type([("c1", DECISION_TYPES, {"send": send})])
    assert TypeAdapter(kind).validate_python(sent) is sent


IDS = st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=4, unique=True)
KINDS = st.lists(st.sampled_from(DECISION_TYPES), min_size=1, max_size=4, unique=True)
SIMPLE: dict[DecisionType, dict[str, Any]] = {
    "approve": {"type": "approve"},
    "edit": edit("send", to="b"),
    "reject": {"type": "reject"},
    "respond": {"type": "respond", "message": "x"},
}


@given(ids=IDS, allowed=KINDS, data=st.data())
def test_only_allowed_decisions_for_the_calls_that_wait_fit(
    ids: list[str], allowed: list[DecisionType], data: st.DataObject
) -> None:
    kinds = data.draw(st.lists(st.sampled_from(DECISION_TYPES), max_size=5))
    names = data.draw(st.sampled_from([ids, [*ids, "other"], ids[:1]]))
    kind = answer_type([(i, allowed, {"send": send}) for i in ids])
    listed = {"decisions": [SIMPLE[k] for k in kinds]}
    named = {"decisions": {i: SIMPLE[k] for i, k in zip(names, kinds, strict=False)}}

    fits = all(k in allowed for k in kinds)
    assert accepts(kind, listed) is (fits and len(kinds) == len(ids))
    given_ids = set(named["decisions"])
    used = kinds[: len(names)]
    right = bool(given_ids) and given_ids <= set(ids) and all(k in allowed for k in used)
    assert accepts(kind, named) is right
