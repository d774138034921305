from __future__ import annotations

from typing import Any

from interlock.graph.extraction import Extraction, Record, Totals

RECORD = Record(0, "0", "text")
USAGE = {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10}


def result(**fields: Any) -> Extraction[int]:
    return Extraction[int](RECORD, **fields)


def test_results_and_tokens_are_summed() -> None:
    totals = Totals()
    totals.add(result(value=1, attempts=1, usage=USAGE))
    totals.add(result(error="no", attempts=3, usage=USAGE))
    totals.add(result(value=1))

    assert (totals.extracted, totals.rejected, totals.finished, totals.attempts) == (2, 1, 3, 4)
    assert totals.usage["total_tokens"] == 20


def test_speed_counts_only_this_run() -> None:
    totals = Totals()
    totals.add(result(value=1), resumed=True)
    assert totals.per_second(2.0) == 0.0
    assert totals.seconds_left(2.0, 10) is None

    totals.add(result(value=1))
    assert totals.per_second(2.0) == 0.5
    assert totals.seconds_left(2.0, 10) == 16.0


def test_speed_is_nothing_before_time_has_passed() -> None:
    assert Totals(extracted=3).per_second(0.0) == 0.0
