"""What a thread holds of reviews is used only in the form that is written."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.middleware.approval.stored import confirmed_in, edits_in, given_in, reviews_in
from interlock.state import StorageError

REVIEW = {"call": "digest", "ask": True, "decision": "edit", "note": "n", "problem": "p"}
ACTION = {"name": "send", "args": {"to": "a"}}
GIVEN = {"decision": {"type": "approve"}, "text": "t"}
GOOD: list[tuple[Any, Any]] = [
    (reviews_in, REVIEW),
    (reviews_in, {"call": "digest", "ask": False}),
    (edits_in, ACTION),
    (confirmed_in, 1.5),
    (given_in, GIVEN),
    (given_in, {"decision": None}),
]
NO_ENTRIES: list[Any] = [5, "x", [], {}]
BAD: list[tuple[Any, Any]] = [
    *((read, entry) for read in (reviews_in, edits_in, given_in) for entry in NO_ENTRIES),
    (reviews_in, {**REVIEW, "ask": "no"}),
    (reviews_in, {**REVIEW, "call": None}),
    (reviews_in, {**REVIEW, "decision": "maybe"}),
    (reviews_in, {**REVIEW, "note": 5}),
    (reviews_in, {**REVIEW, "problem": 5}),
    (edits_in, {**ACTION, "args": 5}),
    (edits_in, {**ACTION, "name": None}),
    (edits_in, {**ACTION, "id": "c2"}),
    (confirmed_in, "yesterday"),
    (confirmed_in, True),
    (given_in, {**GIVEN, "text": 5}),
]


@pytest.mark.parametrize(("read", "entry"), GOOD, ids=range(len(GOOD)))
def test_an_entry_in_its_form_is_read(read: Any, entry: Any) -> None:
    assert read({"key": {"c1": entry}}, "key") == {"c1": entry}


@pytest.mark.parametrize(("read", "entry"), BAD, ids=range(len(BAD)))
def test_an_entry_of_another_form_is_named(read: Any, entry: Any) -> None:
    with pytest.raises(StorageError, match=r"'key'.*'c1'"):
        read({"key": {"c1": entry}}, "key")


@pytest.mark.parametrize("value", [5, "x", [1], {5: REVIEW}], ids=range(4))
def test_a_key_of_another_form_is_named(value: Any) -> None:
    with pytest.raises(StorageError, match="'key'"):
        reviews_in({"key": value}, "key")


@pytest.mark.parametrize("state", [{}, {"key": None}, {"key": {}}], ids=range(3))
def test_no_value_means_no_entries(state: Any) -> None:
    assert reviews_in(state, "key") == {}
