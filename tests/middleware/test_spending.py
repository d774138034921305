from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.messages.ai import UsageMetadata

from interlock.middleware.spending import Meter, fold_spending, model_of, tokens_of


def _usage(tokens: int) -> UsageMetadata:
    return {"input_tokens": tokens, "output_tokens": 0, "total_tokens": tokens}


def _report(name: str, tokens: int, *, reply: bool = True, model: str = "m") -> dict[str, Any]:
    return {"for": name, "reply": reply, "used": {model: _usage(tokens)}}


def _tokens(record: dict[str, Any]) -> tuple[int, int]:
    return tokens_of(record["run"]), tokens_of(record["thread"])


@given(st.lists(st.integers(0, 1_000), max_size=8), st.integers(1, 3))
def test_report_counts_once_however_many_guards_make_it(counts: list[int], guards: int) -> None:
    record: dict[str, Any] = fold_spending({}, {"begin": True})
    for step, tokens in enumerate(counts):
        for _ in range(guards):
            record = fold_spending(record, _report(f"step {step}", tokens))
        for _ in range(guards):
            record = fold_spending(record, _report("call", 1, reply=False))
    assert _tokens(record) == (sum(counts) + len(counts),) * 2


def test_new_run_keeps_what_the_thread_spent() -> None:
    record = fold_spending(fold_spending({}, _report("step 0", 5)), {"begin": True})
    record = fold_spending(record, _report("step 0", 7))
    assert _tokens(record) == (7, 12)


def test_usage_is_kept_per_model() -> None:
    record = fold_spending({}, _report("step 0", 5, model="a"))
    record = fold_spending(record, _report("call", 7, reply=False, model="b"))
    assert {m: u["input_tokens"] for m, u in record["run"].items()} == {"a": 5, "b": 7}


def test_meter_hears_calls_made_while_it_is_set() -> None:
    reply = AIMessage("x", usage_metadata=_usage(5), response_metadata={"model_name": "m"})
    model = GenericFakeChatModel(messages=iter([reply, reply]))
    meter = Meter()
    with meter:
        heard = model.invoke("hi")
    model.invoke("hi")
    assert tokens_of(meter.used()) == 5
    assert tokens_of(meter.used(heard)) == 5
    assert tokens_of(meter.used(reply.model_copy(update={"id": "other"}))) == 10


def test_reply_names_its_model_in_one_of_several_ways() -> None:
    assert model_of(AIMessage("x", response_metadata={"model_name": None, "model": "m"})) == "m"
    assert not model_of(AIMessage("x"))


def test_outer_meters_hear_what_an_inner_one_hears_without_callbacks() -> None:
    reply = AIMessage("x", usage_metadata=_usage(5), response_metadata={"model_name": "m"})
    outer, inner = Meter(), Meter()
    with outer, inner:
        inner.hear(reply)
    assert [tokens_of(meter.used()) for meter in (inner, outer)] == [5, 5]
