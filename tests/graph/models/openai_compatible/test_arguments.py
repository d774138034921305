from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.graph.models.openai_compatible.arguments import Refusal, read_arguments


@pytest.mark.parametrize("raw", [None, "", "  ", "null", " null ", "{}", {}], ids=repr)
def test_nothing_means_no_arguments(raw: object) -> None:
    assert read_arguments(raw) == {}


def test_object_is_read() -> None:
    assert read_arguments(' {"a": [1, 2.5, "x", null, {"b": true}]} ') == {
        "a": [1, 2.5, "x", None, {"b": True}]
    }


def test_last_value_of_a_repeated_key_counts() -> None:
    assert read_arguments('{"a": 1, "a": 2}') == {"a": 2}


@pytest.mark.parametrize("raw", ["[1, 2]", '"x"', "3", "true", "1.5", [1], 3], ids=repr)
def test_anything_but_an_object_is_reported(raw: object) -> None:
    found = read_arguments(raw)

    assert isinstance(found, Refusal)
    assert "must be an object" in found.reason


@pytest.mark.parametrize(
    "raw",
    [
        '{"a": 1',
        '{"a": "x',
        '{"a": 1}}',
        '{"a": 1} {"b": 2}',
        '{"a": NaN}',
        '{"a": Infinity}',
        '{"a": -Infinity}',
        '{"a": 01}',
        "{'a': 1}",
        '{"a": 1,}',
        '{"a": "x\ny"}',
        '{"a": "\\ud83d"}',
        '{"a": ' + "9" * 5000 + "}",
        '{"a": ' + "[" * 10_000 + "]" * 10_000 + "}",
        "[" * 100_000,
    ],
    ids=lambda raw: f"{raw[:12]!r}, {len(raw)} long",
)
def test_anything_but_strict_json_is_reported(raw: str) -> None:
    found = read_arguments(raw)

    assert isinstance(found, Refusal)
    assert "not valid JSON" in found.reason


@pytest.mark.parametrize(
    "raw",
    [
        '{"a": 1e999}',
        '{"a": [-1e999]}',
        {"a": float("nan")},
        f'{{"a": {2**64}}}',
        {"a": [-(2**63) - 1]},
    ],
)
def test_number_that_cannot_be_carried_is_reported(raw: object) -> None:
    assert isinstance(read_arguments(raw), Refusal)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(values)
def test_any_json_gives_an_object_or_a_report(value: object) -> None:
    found = read_arguments(json.dumps(value))

    assert isinstance(found, (dict, Refusal))
    if isinstance(found, dict) and isinstance(value, dict):
        assert found == value


@given(st.text())
def test_any_text_gives_an_object_or_a_report(text: str) -> None:
    assert isinstance(read_arguments(text), (dict, Refusal))


@given(st.dictionaries(st.text(), st.text(min_size=1), min_size=1), st.data())
def test_arguments_that_were_cut_are_never_completed(
    value: dict[str, str], data: st.DataObject
) -> None:
    whole = json.dumps(value)
    cut = data.draw(st.integers(1, len(whole) - 1))

    assert isinstance(read_arguments(whole[:cut]), Refusal)
