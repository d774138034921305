from __future__ import annotations

from typing import Any, Literal

import pytest
from pydantic import BaseModel, ValidationError, field_validator

from interlock.graph.structured_output.problems import (
    MAX_PROBLEMS,
    path_text,
    pydantic_problems,
    value_text,
)


class Part(BaseModel):
    name: str
    count: int

    @field_validator("name")
    @classmethod
    def not_empty(cls, name: str) -> str:
        if not name:
            msg = "a part has a name"
            raise ValueError(msg)
        return name


class Order(BaseModel):
    parts: list[Part]
    size: Literal["s"] | int = "s"


def found_in(data: Any) -> list[str]:
    with pytest.raises(ValidationError) as caught:
        Order.model_validate(data)
    return pydantic_problems(caught.value, data)


def test_problem_has_path_words_and_value() -> None:
    (problem,) = found_in({"parts": [{"name": "bolt", "count": "four"}]})

    assert problem.startswith("parts[0].count: Input should be a valid integer")
    assert problem.endswith('(got "four")')


def test_missing_field_is_named() -> None:
    assert found_in({"parts": [{"count": 1}]}) == [
        'parts[0].name: Field required (got {"count": 1})'
    ]


def test_users_own_validator_is_quoted() -> None:
    (problem,) = found_in({"parts": [{"name": "", "count": 1}]})

    assert "a part has a name" in problem


def test_members_of_a_union_are_no_part_of_the_path() -> None:
    problems = found_in({"parts": [], "size": []})

    assert {problem.split(":")[0] for problem in problems} == {"size"}


def test_problems_hold_no_links_and_no_class_names() -> None:
    text = "\n".join(found_in({"parts": [{"name": 3, "count": {}}], "size": []}))

    assert "http" not in text
    assert "Order" not in text


def test_long_values_and_long_lists_of_problems_are_cut() -> None:
    problems = found_in({"parts": [{"name": "x", "count": "y" * 10_000}] * 100})

    assert problems[-1] == f"and {100 - MAX_PROBLEMS} more problems"
    assert len("".join(problems)) < MAX_PROBLEMS * 500


def test_whole_answer_is_called_so() -> None:
    assert path_text([]) == "the whole answer"


@pytest.mark.parametrize(
    ("value", "text"),
    [({"a": "ü"}, '{"a": "ü"}'), (object(), "a value of type object"), ("\ud800", '"?"')],
)
def test_value_is_shown_as_json(value: object, text: str) -> None:
    assert value_text(value) == text
