from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from interlock.graph.extraction import Record, read_records
from interlock.state.errors import InvalidInputError, InvalidInputTypeError


def test_texts_are_known_by_their_position() -> None:
    assert list(read_records(["a", "b"])) == [Record(0, "0", "a"), Record(1, "1", "b")]


def test_columns_are_given_as_json() -> None:
    (record,) = read_records([{"id": 7, "note": "ü"}], key="id")

    assert record == Record(0, "7", '{"id": 7, "note": "ü"}')


def test_key_may_be_a_function() -> None:
    assert [record.key for record in read_records(["ab"], key=len)] == ["2"]


def test_rows_are_read_one_at_a_time() -> None:
    def rows() -> Iterator[str]:
        yield "first"
        pytest.fail("the second row was read too early")

    assert next(read_records(rows())).text == "first"


@pytest.mark.parametrize("row", [3, None, ["a"], {"a": {1: {(1,): 2}}}])
def test_row_that_is_no_text_is_refused_with_its_number(row: Any) -> None:
    with pytest.raises(InvalidInputTypeError, match="Row 1"):
        list(read_records(["fine", row]))


@pytest.mark.parametrize("row", ["text", {"other": 1}, {"id": ""}, {"id": None}, {"id": "\ud800"}])
def test_row_without_a_usable_key_is_refused(row: Any) -> None:
    with pytest.raises(InvalidInputError, match="Row 0 has no usable key"):
        list(read_records([row], key="id"))


def test_digest_follows_the_text_and_only_the_text() -> None:
    same, other = Record(0, "a", "text"), Record(0, "a", "text ")

    assert same.digest == Record(9, "b", "text").digest != other.digest
    assert Record(0, "a", "\ud800").digest


def test_record_keeps_its_key_and_gets_its_position() -> None:
    rows: list[Any] = ["first", Record(99, "mine", "text")]

    assert list(read_records(rows))[1] == Record(1, "mine", "text")
