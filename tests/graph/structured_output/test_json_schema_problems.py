from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from interlock.graph.structured_output.json_schema_problems import json_schema_problems
from interlock.graph.structured_output.problems import MAX_PROBLEMS


def test_json_schema_problem_has_path_and_value() -> None:
    validator = Draft202012Validator(
        {"properties": {"points": {"items": {"type": "string"}}, "n": {"minimum": 3}}}
    )
    value = {"points": ["a", 7], "n": 1}

    assert json_schema_problems(validator.iter_errors(value)) == [
        "n: 1 is less than the minimum of 3",
        "points[1]: 7 is not of type 'string'",
    ]


def test_json_schema_problem_in_a_branch_is_told_where_it_is() -> None:
    branches = [{"type": "integer"}, {"properties": {"z": {"type": "string"}}}]
    validator = Draft202012Validator({"properties": {"a": {"anyOf": branches}}})

    assert json_schema_problems(validator.iter_errors({"a": {"z": 1}})) == [
        "a.z: 1 is not of type 'string'"
    ]


@pytest.mark.parametrize("value", ["x" * 5_000, ["x" * 5_000]])
def test_long_value_is_cut(value: Any) -> None:
    validator = Draft202012Validator({"type": "object"})
    (problem,) = json_schema_problems(validator.iter_errors(value))

    assert "the value is not of type 'object'" in problem
    assert len(problem) < 600


def test_no_more_errors_are_read_than_are_needed() -> None:
    validator = Draft202012Validator({"items": {"type": "string"}})
    problems = json_schema_problems(validator.iter_errors(list(range(100_000))))

    assert len(problems) == MAX_PROBLEMS + 1
