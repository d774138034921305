from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, ToolMessage

from interlock.state.ledger import INNER_USAGE, Cursor, Ledger


def usage(given: int, taken: int, **details: Any) -> Any:
    return {
        "input_tokens": given,
        "output_tokens": taken,
        "total_tokens": given + taken,
        **details,
    }


def test_usage_adds_up_down_to_its_details() -> None:
    ledger = Ledger()
    for read in (3, 4):
        details = {"cache_read": read}
        ledger.take_usage(AIMessage("x", usage_metadata=usage(10, 2, input_token_details=details)))
    assert ledger.token_usage == usage(20, 4, input_token_details={"cache_read": 7})


def test_context_tokens_are_those_of_the_last_reply_that_told_them() -> None:
    ledger = Ledger()
    ledger.take_usage(AIMessage("x", usage_metadata=usage(10, 2)))
    ledger.take_usage(AIMessage("x", usage_metadata=usage(30, 4)))
    ledger.take_usage(AIMessage("x"))
    ledger.take_usage(AIMessage("x", usage_metadata=usage(0, 0)))
    assert ledger.context_tokens == 34


def test_a_tool_may_report_what_its_models_used() -> None:
    ledger = Ledger()
    told = ToolMessage("x", tool_call_id="c", response_metadata={INNER_USAGE: usage(5, 1)})
    ledger.take_inner_usage(told)
    ledger.take_inner_usage(ToolMessage("x", tool_call_id="d"))
    assert ledger.token_usage["total_tokens"] == 6
    assert ledger.context_tokens == 0


def test_a_run_without_reported_usage_has_none() -> None:
    ledger = Ledger()
    ledger.take_usage(AIMessage("x"))
    assert ledger.outputs()["token_usage"] == {}


@given(
    steps=st.integers(0, 5),
    counts=st.dictionaries(st.sampled_from("ab"), st.integers(1, 3)),
    reason=st.none() | st.just("text"),
    decided=st.none() | st.tuples(st.just("exit"), st.just("finish"), st.none()),
    cursor=st.none() | st.builds(Cursor, st.just("tools"), st.integers(0, 3)),
)
def test_a_stored_ledger_is_the_ledger(
    steps: int, counts: dict[str, int], reason: str | None, decided: Any, cursor: Cursor | None
) -> None:
    ledger = Ledger(
        step_count=steps,
        tool_call_counts=counts,
        exit_reason=reason,
        decided=decided,
        cursor=cursor,
    )
    assert Ledger.load(ledger.dump()) == ledger
