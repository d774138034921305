"""What a thread keeps of a failure, and the error that stands for it later."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlock.state.failures import (
    CallRecords,
    Carried,
    RestoredError,
    are_records,
    is_failing,
    record_of,
    restored,
)

RECORD = {"type": "builtins.OSError", "text": "down"}
FAILING: Any = {
    "place": ["model", 0],
    "errors": [RECORD],
    "position": 0,
    "index": 2,
    "answered": False,
    "missed": None,
    "jump": ["M.on_error", "end", ["end"], None],
}


class MuteError(Exception):
    def __str__(self) -> str:
        raise ValueError


@pytest.mark.parametrize(
    "error",
    [OSError(2, "gone"), KeyError("x"), json.JSONDecodeError("bad", "doc", 1), TimeoutError()],
)
def test_a_restored_error_is_of_the_class_and_says_the_text(error: Exception) -> None:
    again = restored(record_of(error))
    assert isinstance(again, RestoredError)
    assert isinstance(again, type(error))
    assert (str(again), again.text) == (str(error), str(error))
    assert record_of(again) == record_of(error)


def test_a_class_that_is_not_loaded_is_named_in_the_text() -> None:
    again = restored({"type": "elsewhere.Odd", "text": "down"})
    assert type(again) is RestoredError
    assert (str(again), again.type_name) == ("elsewhere.Odd: down", "elsewhere.Odd")


def test_notes_and_the_call_are_kept() -> None:
    error = OSError("down")
    error.add_note("twice")
    record = record_of(error, "c1")
    assert record == {**RECORD, "notes": ["twice"], "call": "c1"}
    assert restored(record).__notes__ == ["twice"]


def test_an_error_that_cannot_say_its_text_is_kept_all_the_same() -> None:
    assert record_of(MuteError())["text"] == "(its text cannot be read)"


@pytest.mark.parametrize("channel", [Carried(object, guard=False), CallRecords(Any, guard=False)])
def test_what_tasks_hand_on_lasts_one_step(channel: Any) -> None:
    assert channel.update([[1], [2, 3]])
    assert channel.get() == [1, 2, 3]
    assert channel.update([])
    assert not channel.is_available()
    assert not channel.update([])


@pytest.mark.parametrize(
    "value",
    [None, {}, [None], [{"type": "a"}], [{**RECORD, "x": 1}], [{**RECORD, "notes": "n"}]],
)
def test_other_data_is_no_list_of_records(value: Any) -> None:
    assert not are_records(value)


def test_what_is_written_of_a_pause_is_taken() -> None:
    assert is_failing(FAILING)
    assert is_failing({**FAILING, "missed": 0, "jump": None})


@pytest.mark.parametrize(
    "change",
    [
        {"place": "model"},
        {"place": ["model", -1]},
        {"errors": [1]},
        {"errors": []},
        {"position": 1},
        {"missed": 1},
        {"index": None},
        {"answered": 1},
        {"jump": "end"},
        {"jump": ["M", "end", "end", None]},
        {"more": 1},
    ],
)
def test_anything_else_is_refused(change: Any) -> None:
    assert not is_failing({**FAILING, **change})
    assert not is_failing([FAILING])
