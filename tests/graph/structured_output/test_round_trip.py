"""Whatever fits a schema comes back as it was; whatever does not is an outcome, not a crash."""

from __future__ import annotations

import json
import string
from enum import Enum
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from langchain_core.messages import AIMessage
from pydantic import BaseModel, TypeAdapter

from interlock.graph.structured_output import (
    ActiveOutput,
    Answered,
    AskAgain,
    Failed,
    OutputPlan,
    ProviderStrategy,
    ToolStrategy,
)

QUICK = settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])

NAMES = st.text(string.ascii_lowercase, min_size=1, max_size=4)
ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=10,
)


class Mood(Enum):
    FINE = "fine"
    SAD = "sad"


class Person(BaseModel):
    name: str
    age: int | None = None
    mood: Mood = Mood.FINE
    friends: list[Person] = []
    role: Literal["boss"] | dict[str, float] = "boss"


PEOPLE: st.SearchStrategy[Person] = st.deferred(
    lambda: st.builds(
        Person,
        name=st.text(),
        age=st.none() | st.integers(),
        mood=st.sampled_from(Mood),
        friends=st.lists(PEOPLE, max_size=1),
        role=st.just("boss") | st.dictionaries(st.text(), st.floats(-1e9, 1e9), max_size=2),
    )
)


@st.composite
def schemas(draw: st.DrawFn, depth: int = 2) -> tuple[dict[str, Any], st.SearchStrategy[Any]]:
    """A JSON schema and the values that fit it."""
    kinds = ["string", "integer", "boolean", "enum"] + ["array", "object"] * (depth > 0)
    match draw(st.sampled_from(kinds)):
        case "string":
            return {"type": "string", "minLength": 1}, st.text(min_size=1)
        case "integer":
            return {"type": "integer", "minimum": 0}, st.integers(min_value=0)
        case "boolean":
            return {"type": "boolean"}, st.booleans()
        case "enum":
            return {"enum": ["a", 1, None]}, st.sampled_from(["a", 1, None])
        case "array":
            items, values = draw(schemas(depth - 1))
            return {"type": "array", "items": items}, st.lists(values, max_size=3)
        case _:
            fields = draw(st.dictionaries(NAMES, schemas(depth - 1), max_size=3))
            schema = {
                "type": "object",
                "properties": {name: field[0] for name, field in fields.items()},
                "required": list(fields),
                "additionalProperties": False,
            }
            return schema, st.fixed_dictionaries({name: f[1] for name, f in fields.items()})


def active(strategy: Any) -> ActiveOutput:
    found = OutputPlan.from_response_format(strategy).resolve(strategy, "m")
    assert found is not None
    return found


def calling(output: ActiveOutput, value: Any) -> AIMessage:
    call: Any = {"name": output.specs[0].name, "args": value, "id": "c"}
    return AIMessage("", tool_calls=[call])


def offered(output: ActiveOutput, value: Any) -> dict[str, Any]:
    """The value in the form in which the provider is asked for it."""
    form = {"value": value} if output.specs[0].wrapped else value
    Draft202012Validator(output.specs[0].json_schema).validate(form)
    return dict(form)


BY_TOOL, NATIVE = active(ToolStrategy(Person)), active(ProviderStrategy(Person))


@QUICK
@given(PEOPLE)
def test_model_comes_back_from_calls_and_fences(person: Person) -> None:
    form = offered(BY_TOOL, person.model_dump(mode="json"))
    text = f"Here you are:\n```json\n{json.dumps(form)}\n```"

    for outcome in (BY_TOOL.read(calling(BY_TOOL, form)), NATIVE.read(AIMessage(text))):
        assert isinstance(outcome, Answered)
        assert outcome.value == person


@QUICK
@given(schemas(), st.data())
def test_value_of_a_json_schema_comes_back_from_calls_and_fences(
    drawn: tuple[dict[str, Any], st.SearchStrategy[Any]], data: st.DataObject
) -> None:
    value = data.draw(drawn[1])
    by_tool, native = active(ToolStrategy[Any](drawn[0])), active(ProviderStrategy[Any](drawn[0]))
    form = offered(by_tool, value)
    text = f"```json\n{json.dumps(form, indent=1)}\n```"

    for outcome in (by_tool.read(calling(by_tool, form)), native.read(AIMessage(text))):
        assert isinstance(outcome, Answered)
        assert outcome.value == value


@QUICK
@given(PEOPLE, st.sampled_from(["length", "max_tokens", "MAX_TOKENS"]))
def test_reply_that_was_cut_off_never_gives_a_value(person: Person, reason: str) -> None:
    form = person.model_dump(mode="json")
    for output, message in (
        (BY_TOOL, calling(BY_TOOL, form)),
        (NATIVE, AIMessage(json.dumps(form))),
    ):
        message.response_metadata = {"finish_reason": reason}
        assert isinstance(output.read(message), AskAgain)


@QUICK
@given(PEOPLE, st.data())
def test_beginning_of_an_answer_is_no_answer(person: Person, data: st.DataObject) -> None:
    text = person.model_dump_json()
    end = data.draw(st.integers(0, len(text) - 1))

    assert isinstance(NATIVE.read(AIMessage(text[:end])), AskAgain)


@QUICK
@given(
    st.text() | ANY.map(json.dumps), st.dictionaries(st.text(max_size=4), ANY), st.integers(0, 5)
)
@pytest.mark.parametrize("strategy", [ToolStrategy(Person), ProviderStrategy(Person)])
def test_garbage_is_an_outcome(
    strategy: Any, text: str, arguments: dict[str, Any], earlier: int
) -> None:
    output = active(strategy)
    for message in (AIMessage(text), calling(output, arguments)):
        outcome = output.read(message, ["before"] * earlier)
        assert isinstance(outcome, AskAgain | Failed | Answered)
        if isinstance(outcome, Answered):
            assert isinstance(outcome.value, Person)


def test_every_answer_is_valid_by_pydantics_own_reading() -> None:
    form = {"name": "A", "friends": [{"name": "B", "mood": "sad"}]}
    outcome = BY_TOOL.read(calling(BY_TOOL, form))

    assert isinstance(outcome, Answered)
    assert outcome.value == TypeAdapter(Person).validate_json(json.dumps(form))
