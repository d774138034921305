from __future__ import annotations

import pytest

from interlock.graph.tracing.steps import Steps

MODEL = "wrap_model_call"


@pytest.mark.parametrize(
    ("points", "begun"),
    [
        (["before_agent", MODEL, "after_agent"], [MODEL]),
        (["before_model", MODEL, "after_model"], ["before_model"]),
        ([MODEL, "wrap_tool_call", "wrap_tool_call", MODEL], [MODEL, MODEL]),
        ([MODEL, "after_tools", "before_model", MODEL], [MODEL, "before_model"]),
        (["before_model", "before_model", MODEL], ["before_model"]),
        (
            ["before_tools", "wrap_tool_call", "before_model", MODEL],
            ["before_tools", "before_model"],
        ),
        ([MODEL, "on_exit", "before_model", MODEL], [MODEL, "before_model"]),
    ],
    ids=str,
)
def test_a_step_begins_with_what_leads_to_a_model_call(points: list[str], begun: list[str]) -> None:
    steps = Steps()
    found: list[str] = []
    for point in points:
        if (place := steps.place(point)) == "new step":
            found.append(point)
        elif place == "run":
            steps.end()
    assert found == begun


def test_steps_are_counted_from_the_first_that_was_not_complete() -> None:
    steps = Steps(completed=3)
    assert steps.place("before_tools") == "new step"
    assert steps.completed == 3
    assert steps.place("before_model") == "new step"
    assert steps.completed == 4
    steps.end()
    steps.end()
    assert steps.completed == 5


def test_where_the_count_is_unknown_it_stays_so() -> None:
    steps = Steps(completed=None)
    steps.place(MODEL)
    steps.place(MODEL)
    steps.end()
    assert steps.completed is None
