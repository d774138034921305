"""The table of guardrails says what the code does."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

from interlock.middleware.collect import HOOK_POINTS, WRAP_POINTS, collect_hooks
from interlock.state.fields import read_fields
from interlock.state.schema import AgentState

ROOT = Path(__file__).parents[2]
ROWS = {
    cells[0].strip("` "): [cell.strip() for cell in cells[1:]]
    for line in (ROOT / "middleware" / "README.md").read_text("utf-8").splitlines()
    if line.startswith("| `") and len(cells := line.strip("|").split("|")) == 6
}
KEYS = re.compile(r"`(\w+)`")


def measured() -> Any:
    """The tests that make one guardrail of each kind."""
    path = Path(__file__).with_name("test_idle_cost.py")
    spec = importlib.util.spec_from_file_location("idle_cost", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


IDLE = measured()


def test_every_public_guardrail_has_a_row() -> None:
    assert sorted(ROWS) == IDLE.public_guardrails()


@pytest.mark.parametrize("name", sorted(IDLE.guardrails()))
def test_row_names_hook_points_state_cost_and_interrupts(name: str) -> None:
    row = ROWS[name]
    made = IDLE.guardrails()[name]()
    plan = collect_hooks([made])
    used: set[str] = {point for point in HOOK_POINTS if plan.hooks[point]}
    used |= {point for point in WRAP_POINTS if plan.wraps[point]}
    always = row[1].split(";")[0]

    assert all(row)
    assert set(KEYS.findall(always)) - {"filter_input"} == used
    assert ("tool" in always.replace("_tool", "")) == bool(made.tools)


@pytest.mark.parametrize("name", sorted(IDLE.guardrails()))
def test_row_names_the_state_that_is_added(name: str) -> None:
    state = ROWS[name][2]
    made = IDLE.guardrails()[name]()
    added = read_fields(made.state_schema).keys() - read_fields(AgentState).keys()

    assert (state == "none" or "only)" in state) == (not added)
    if "three" not in state and "four" not in state and added:
        assert set(KEYS.findall(state)) == added
