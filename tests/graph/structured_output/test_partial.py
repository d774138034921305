from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.graph.structured_output import partial_value

VALUES = st.dictionaries(st.text(), st.lists(st.text()) | st.text(), min_size=1)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": "x', {"a": "x"}),
        ('{"a": ["x", "y"', {"a": ["x", "y"]}),
        ('```json\n{"a": 1, ', {"a": 1}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ("{", {}),
        ("", None),
        ("``", None),
        ("prose", None),
        ("\ud800", None),
    ],
)
def test_value_is_read_as_far_as_it_goes(text: str, value: object) -> None:
    assert partial_value(text) == value


@given(st.text())
def test_garbage_gives_a_value_or_none(text: str) -> None:
    partial_value(text)


@given(VALUES, st.data())
def test_value_only_grows_and_ends_whole(value: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(value)
    end = data.draw(st.integers(1, len(text)))
    part: dict[str, Any] = partial_value(text[:end]) or {}

    assert list(part) == list(value)[: len(part)]
    assert all(str(value[key]).startswith(str(part[key]).rstrip("']")) for key in list(part)[:-1])
    assert partial_value(text) == value
