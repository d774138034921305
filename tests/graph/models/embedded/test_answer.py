"""Answers of the engine, checked."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.graph.models.embedded.answer import Call, doubts, read_answer
from interlock.state.errors import ChatModelError
from interlock.state.model_errors import (
    ChatModelIncompleteError,
    ChatModelMalformedError,
    ChatModelServerError,
)


def raw(*calls: tuple[str, dict[str, Any]], **fields: Any) -> dict[str, Any]:
    made = [{"name": name, "arguments": arguments} for name, arguments in calls]
    return {
        "type": "call",
        "success": True,
        "error": None,
        "function_calls": made,
        "suppressed_calls": [],
        "reasoning": " Because. ",
        "confidence": 0.9,
        **fields,
    }


def test_an_answer_is_read() -> None:
    answer = read_answer(raw(("add", {"price": 3.5}), suppressed_calls=[{"name": "sub"}]))
    assert answer.calls == (Call("add", {"price": 3.5}),)
    assert answer.suppressed == (Call("sub", {}),)
    assert (answer.reasoning, answer.confidence, answer.negated) == ("Because.", 0.9, False)


def test_an_answer_of_fewer_words_is_read_too() -> None:
    answer = read_answer({"function_calls": [], "confidence": None})
    assert (answer.calls, answer.reasoning, answer.confidence) == ((), "", None)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ({}, ChatModelMalformedError),
        (raw(function_calls=None), ChatModelMalformedError),
        (raw(function_calls=[3]), ChatModelMalformedError),
        (raw(function_calls=[{"arguments": {}}]), ChatModelMalformedError),
        (raw(function_calls=[{"name": "f", "arguments": []}]), None),
        (raw(function_calls=[{"name": "f", "arguments": "a"}]), ChatModelMalformedError),
        (raw(confidence="high"), ChatModelMalformedError),
        (raw(error="bad", success=False), ChatModelServerError),
        (raw(error="cut", error_code="truncated"), ChatModelIncompleteError),
    ],
)
def test_what_is_no_answer_is_an_error(answer: Any, error: type[ChatModelError] | None) -> None:
    if error is None:
        assert read_answer(answer).calls == (Call("f", {}),)
        return
    with pytest.raises(error):
        read_answer(answer)


def doubted(arguments: dict[str, Any], *places: str, told: str = "", negation: bool = False) -> Any:
    validation = {"ungrounded": list(places), "negation": negation}
    return doubts(read_answer(raw(("add", arguments), validation=validation)), [told])


@pytest.mark.parametrize(
    ("arguments", "place", "told"),
    [
        ({"price": 3.5}, "add.price", "coffee for 3.50"),
        ({"price": 1249.5}, "add.price", "it costs 1,249.50 euros"),
        ({"count": 12}, "add.count", "12."),
        ({"items": [{"price": 2}]}, "add.items[0].price", "for 2 euros"),
    ],
)
def test_a_number_that_is_in_the_request_is_no_doubt(
    arguments: dict[str, Any], place: str, told: str
) -> None:
    assert doubted(arguments, place, told=told) == ()


@pytest.mark.parametrize(
    ("arguments", "place", "told"),
    [
        ({"price": 4.5}, "add.price", "coffee for 3.50"),
        ({"city": "Oslo"}, "add.city", "Oslo 3"),
        ({"paid": True}, "add.paid", "1"),
        ({}, "add.price", "3"),
        ({"items": []}, "add.items[0].price", "3"),
        ({"price": 3}, "other.price", "3"),
        ({"price": 1}, "add.price", "room b1, version 1.1"),
    ],
)
def test_anything_else_that_is_not_in_the_request_is(
    arguments: dict[str, Any], place: str, told: str
) -> None:
    assert doubted(arguments, place, told=told) == (f"{place} is not in the request",)


def test_a_negated_request_is_a_doubt() -> None:
    assert doubted({}, negation=True) == ("the request says not to",)
