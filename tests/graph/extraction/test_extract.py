from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.exceptions import ModelAuthenticationError, ModelRateLimitError
from pydantic import BaseModel, field_validator

from interlock.graph import ToolStrategy, aextract, extract
from interlock.graph.extraction import Extraction, Totals
from interlock.state.errors import ConfigurationError, InvalidInputError, InvalidInputTypeError

Run = Callable[..., tuple[list[Extraction[Any]], Totals]]
Reader = Callable[[Callable[[str], Any]], Any]


class Number(BaseModel):
    n: int


def number(text: str) -> str:
    return json.dumps({"n": int(text)})


def odd_fails(text: str) -> str:
    return number(text) if int(text) % 2 == 0 else "no idea"


TEXTS = [str(n) for n in range(30)]


def test_results_come_in_the_order_of_the_input(extracted: Run, reader: Reader) -> None:
    results, totals = extracted(reader(number), Number, TEXTS, concurrency=4)

    assert [result.value for result in results] == [Number(n=n) for n in range(30)]
    assert (totals.extracted, totals.attempts, totals.usage["total_tokens"]) == (30, 30, 90)


def test_results_may_come_as_soon_as_they_are_there(extracted: Run, reader: Reader) -> None:
    told = threading.Event()

    def slow(text: str) -> str:
        if text == "0":
            told.wait(30)
        return number(text)

    def rows() -> Iterator[str]:
        yield from ("0", "1")
        told.set()  # asked for once the first result was told

    results, _ = extracted(reader(slow), Number, rows(), ordered=False, concurrency=2)

    assert [result.record.text for result in results] == ["1", "0"]


def test_rejected_records_are_results_with_a_reason(extracted: Run, reader: Reader) -> None:
    results, totals = extracted(reader(odd_fails), Number, TEXTS, max_retries=1)

    assert len(results) == 30
    assert {r.record.text for r in results if r.rejected} == set(TEXTS[1::2])
    assert {r.attempts for r in results if r.rejected} == {2}
    assert (totals.rejected, totals.attempts) == (15, 45)


def test_rejected_records_go_to_a_function(extracted: Run, reader: Reader) -> None:
    rejects: list[Extraction[Any]] = []
    results, _ = extracted(reader(odd_fails), Number, TEXTS, max_retries=0, rejects=rejects.append)

    assert [result.record.text for result in results] == TEXTS[::2]
    assert [reject.record.text for reject in rejects] == TEXTS[1::2]


def test_rejected_records_go_to_a_file(extracted: Run, reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / "rejects.jsonl"
    extracted(reader(odd_fails), Number, ["1", "2"], max_retries=0, rejects=path)

    (row,) = map(json.loads, path.read_text().splitlines())
    assert (row["key"], row["text"], row["attempts"]) == ("0", "1", 1)
    assert (row["error_type"], row["last_output"]) == ("ExtractionError", "no idea")


def test_no_more_records_are_read_than_are_worked_on(reader: Reader) -> None:
    read: list[str] = []

    def rows() -> Iterator[str]:
        for text in TEXTS:
            read.append(text)
            yield text

    with extract(reader(number), Number, rows(), concurrency=3) as results:
        next(results)
    assert len(read) <= 4


def test_slow_record_lets_only_a_window_pass_it(reader: Reader) -> None:
    read, seen = list[int](), list[int]()
    gone, too_far = threading.Event(), threading.Event()

    def rows() -> Iterator[str]:
        for n in range(1000):
            read.append(n)
            yield str(n)

    def answer(text: str) -> str:
        if text == "0":
            gone.wait(30)
            too_far.wait(0.05)
            seen.append(len(read))
        elif text == "63":
            gone.set()
        elif text == "64":
            too_far.set()
        return number(text)

    with extract(reader(answer), Number, rows(), concurrency=2) as results:
        assert next(results).record.key == "0"
        assert 64 <= seen[0] <= 65  # the window is 64, and one record waits in front of it


def test_failed_request_is_made_again(extracted: Run, reader: Reader) -> None:
    errors = [ModelRateLimitError("slow down")]
    model = reader(lambda text: errors.pop() if errors else number(text))
    results, _ = extracted(model, Number, ["7"], retry=None, max_retries=1, rate_limit=60_000)

    assert [(result.value, result.attempts) for result in results] == [(Number(n=7), 2)]


def test_wrong_key_ends_the_job_and_what_ran_is_kept(
    extracted: Run, reader: Reader, tmp_path: Path
) -> None:
    def answer(text: str) -> Any:
        return ModelAuthenticationError("no such key") if text == "5" else number(text)

    with pytest.raises(ModelAuthenticationError):
        extracted(reader(answer), Number, TEXTS, concurrency=3, resume=tmp_path / "out.jsonl")

    kept = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert {row["key"] for row in kept} >= {"0", "1", "2", "3", "4"}
    assert len(kept) < 12


def test_broken_input_ends_the_job_after_what_came_before(extracted: Run, reader: Reader) -> None:
    model = reader(number)

    with pytest.raises(InvalidInputTypeError, match="Row 3"):
        extracted(model, Number, ["0", "1", "2", 3, "4"], concurrency=8)
    assert model.asked.total() == 3


@pytest.mark.parametrize("name", ["job.sqlite", "out.jsonl"])
def test_resumed_job_gives_all_and_asks_for_the_rest(
    extracted: Run, reader: Reader, tmp_path: Path, name: str
) -> None:
    first, second = reader(odd_fails), reader(odd_fails)
    settings = {"max_retries": 0, "resume": tmp_path / name, "rejects": tmp_path / "bad.jsonl"}
    extracted(first, Number, TEXTS[:10], **settings)
    results, totals = extracted(second, Number, TEXTS, **settings)

    assert [result.value for result in results] == [Number(n=n) for n in range(0, 30, 2)]
    assert set(second.asked) == set(TEXTS[10:])
    assert (totals.resumed, totals.extracted, totals.rejected) == (10, 15, 15)
    assert len((tmp_path / "bad.jsonl").read_text().splitlines()) == 15


@pytest.mark.parametrize("name", ["job.sqlite", "out.jsonl"])
def test_job_goes_on_only_with_the_same_settings(reader: Reader, tmp_path: Path, name: str) -> None:
    list(extract(reader(number), Number, TEXTS, resume=tmp_path / name))

    with pytest.raises(InvalidInputError, match=r"instructions"):
        list(extract(reader(number), Number, TEXTS, resume=tmp_path / name, instructions="?"))


@pytest.mark.parametrize("name", ["job.sqlite", "out.jsonl"])
def test_two_records_of_one_key_are_refused(reader: Reader, tmp_path: Path, name: str) -> None:
    rows = [{"id": 1, "n": n} for n in range(9)]

    with pytest.raises(InvalidInputError, match="key"):
        list(
            extract(
                reader(str), dict[str, int], rows, key="id", resume=tmp_path / name, max_retries=0
            )
        )


class Priced(BaseModel):
    price: float

    @field_validator("price", mode="before")
    @classmethod
    def without_currency(cls, price: object) -> object:
        return price.removesuffix(" EUR") if isinstance(price, str) else price


@pytest.mark.parametrize("name", ["job.sqlite", "out.jsonl"])
def test_value_is_made_again_by_the_schema(reader: Reader, tmp_path: Path, name: str) -> None:
    def run() -> list[Extraction[Priced]]:
        model = reader(lambda _: '{"price": "2.5 EUR"}')
        return list(extract(model, Priced, ["x"], resume=tmp_path / name))

    assert run() == run()
    assert [(r.value, r.resumed) for r in run()] == [(Priced(price=2.5), True)]


def test_output_has_the_values_as_the_schema_made_them(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    list(extract(reader(lambda _: '{"price": "2.5 EUR"}'), Priced, ["x"], resume=path))

    (row,) = map(json.loads, path.read_text().splitlines())
    assert (row["value"], row["data"]) == ({"price": 2.5}, {"price": "2.5 EUR"})


def test_value_that_is_no_json_is_rejected_where_it_is_kept(
    extracted: Run, reader: Reader, tmp_path: Path
) -> None:
    model = reader(lambda _: '{"price": "inf"}')
    results, _ = extracted(model, Priced, ["x"], resume=tmp_path / "out.jsonl")

    assert "no JSON" in str(results[0].error)


def test_record_that_takes_too_long_is_given_up(extracted: Run, reader: Reader) -> None:
    model = reader(lambda _: str(threading.Event().wait(0.5)))
    results, _ = extracted(model, Number, ["x"], timeout_s=0.05)

    assert [(r.error_type, r.attempts) for r in results] == [("TimeLimit", 1)]


def test_schema_may_be_a_strategy_or_any_type(extracted: Run, reader: Reader) -> None:
    as_list, _ = extracted(reader(lambda _: '{"value": [1, 2]}'), list[int], ["x"])
    by_tool, _ = extracted(reader(odd_fails), ToolStrategy(Number, max_retries=0), ["4", "5"])

    assert as_list[0].value == [1, 2]
    assert (by_tool[0].value, by_tool[1].attempts) == (Number(n=4), 1)


@pytest.mark.parametrize("inputs", ["text", b"bytes", {"a": "text"}, 3, None])
def test_inputs_that_are_no_records_are_refused(reader: Reader, inputs: Any) -> None:
    with pytest.raises(InvalidInputTypeError, match="give an iterable"):
        extract(reader(str), Number, inputs)


@pytest.mark.parametrize(
    "settings",
    [
        {"concurrency": 0},
        {"concurrency": True},
        {"timeout_s": 0},
        {"timeout_s": "1"},
        {"max_retries": -1},
        {"rate_limit": 0},
        {"rate_limit": "fast"},
        {"resume": 3},
        {"resume": "out.csv"},
        {"resume": "a.jsonl", "rejects": "a.jsonl"},
    ],
)
def test_wrong_setting_is_refused_at_once(reader: Reader, settings: Any) -> None:
    with pytest.raises(ConfigurationError):
        extract(reader(str), Number, [], **settings)


def test_unknown_setting_is_refused_with_a_suggestion(reader: Reader) -> None:
    with pytest.raises(TypeError, match="'concurrency'"):
        extract(reader(str), Number, [], concurency=3)  # type: ignore[call-overload]


def test_job_that_is_not_read_to_its_end_lets_its_files_go(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / "job.sqlite"
    for _ in range(2):
        with extract(reader(number), Number, TEXTS, resume=path) as results:
            next(results)


async def test_job_is_cancelled_when_its_reader_leaves(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    for _ in range(2):
        async with aextract(reader(number), Number, TEXTS, resume=path) as results:
            await anext(results)
    assert len(asyncio.all_tasks()) == 1
