"""What a thread keeps of a run is used only in the form that is written."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage

from interlock.graph.hand_over import HAND_OVER
from interlock.graph.phases import HOME, ON_ERROR
from interlock.state import StorageError
from interlock.state.ledger import Gathered, Ledger
from interlock.state.stored_run import PHASES, check_waiting

WAITS: dict[str, Any] = {
    "tool": "t",
    "call": "c",
    "graph": "__parent__",
    "goto": "other",
    "update": {"x": 1},
    "history": True,
}


def test_a_run_may_go_on_at_any_phase_and_nowhere_else() -> None:
    assert {*HOME, ON_ERROR, HAND_OVER} == PHASES


LEDGERS: list[tuple[Any, str]] = [
    (5, "value has"),
    ([1], "value has"),
    ({1: 2}, "'1'"),
    ({"no_such_counter": 1}, "'no_such_counter'"),
    ({"step_count": "many"}, "'step_count'"),
    ({"step_count": True}, "'step_count'"),
    ({"context_tokens": -1}, "'context_tokens'"),
    ({"token_usage": 5}, "'token_usage'"),
    ({"token_usage": {"input_tokens": "x"}}, "'token_usage'"),
    ({"tool_call_counts": {"t": "x"}}, "'tool_call_counts'"),
    ({"exit_reason": 5}, "'exit_reason'"),
    ({"final_answer": 1}, "'final_answer'"),
    ({"running": 5}, "'running'"),
    ({"running": [5]}, "'running'"),
    ({"direct": [[]]}, "'direct'"),
    ({"output_attempts": {}}, "'output_attempts'"),
    ({"cursor": 5}, "'cursor'"),
    ({"cursor": ["model"]}, "'cursor'"),
    ({"cursor": ["nowhere", 0]}, "'cursor'"),
    ({"cursor": ["model", -1]}, "'cursor'"),
    ({"cursor": [["model"], 0]}, "'cursor'"),
    ({"checked": ["a", "b"]}, "'checked'"),
    ({"decided": ["model"]}, "'decided'"),
    ({"decided": ["nowhere", None, None]}, "'decided'"),
    ({"decided": ["model", 5, None]}, "'decided'"),
    ({"for_parent": [5]}, "'for_parent'"),
    ({"kept": 5}, "'kept'"),
    ({"kept": [5]}, "'kept'"),
    ({"kept": [{"request": "x"}]}, "'kept'"),
    ({"kept": [{"request": "x", "reply": "y"}]}, "'kept'"),
    ({"kept": [{"request": "x", "reply": AIMessage("y"), "more": 1}]}, "'kept'"),
]


@pytest.mark.parametrize(("stored", "part"), LEDGERS, ids=range(len(LEDGERS)))
def test_a_ledger_of_another_form_is_refused_by_name(stored: Any, part: str) -> None:
    with pytest.raises(StorageError, match=f"'run_ledger'.*{part}"):
        Ledger.load(stored)


@pytest.mark.parametrize(
    "entries",
    [
        5,
        "x",
        [5],
        [{}],
        [{**WAITS, "more": 1}],
        [{**WAITS, "tool": None}],
        [{**WAITS, "graph": None}],
        [{**WAITS, "update": 5}],
    ],
    ids=range(8),
)
def test_commands_of_another_form_are_refused(entries: Any) -> None:
    with pytest.raises(StorageError, match="'for_parent'"):
        check_waiting(entries)


def test_commands_in_their_form_pass() -> None:
    entries = [WAITS, {**WAITS, "update": [("x", 1)], "history": None}]
    assert check_waiting(entries) == entries


def test_a_stored_value_that_is_no_list_is_kept_for_the_check() -> None:
    channel = Gathered(dict).from_checkpoint(5)
    assert channel.get() == [5]
    assert Gathered(dict).from_checkpoint([WAITS]).get() == [WAITS]
