"""YAML that holds data, and nothing but data."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.graph.serialization import read_yaml, write_yaml
from interlock.state import ConfigurationError

DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(data=DATA)
@settings(max_examples=100)
def test_data_comes_back(data: Any) -> None:
    assert read_yaml(write_yaml(data)) == data


BOMB = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("!!python/object/apply:os.system ['true']", "tag"),
        ("a: !!python/name:os.system ''", "tag"),
        ("a: !include /etc/passwd", "tag"),
        ("a: !!binary aGk=", "tag"),
        (BOMB, "anchor"),
        ("a: *b", "anchor"),
        ("a: 1\na: 2", "twice"),
        ("x:\n  - a: 1\n    b: [1]\n    a: 2", "line 4"),
        ("[" * 100 + "]" * 100, "deep"),
        ("x" * 200_001, "200001"),
        ("[" + "a," * 20_000 + "]", "more than 20000"),
        ("a: b: c", "no valid YAML"),
        ("a\x00b", "no valid YAML"),
        ("--- 1\n--- 2", "no valid YAML"),
        ("a: 2020-13-40", "cannot be read"),
        ("a: " + "9" * 5000, "cannot be read"),
        ("a: 1" + ":1" * 90_000, "cannot be read"),
        ("a: -1" + ":59" * 1_000 + ".5", "cannot be read"),
        ("interlock: 0x" + "f" * 10_000, "cannot be read"),
        ("%YAML 9.9\n---\na: 1", "no valid YAML"),
    ],
)
def test_anything_else_is_refused(text: str, word: str) -> None:
    with pytest.raises(ConfigurationError, match=word):
        read_yaml(text)


@pytest.mark.parametrize("text", ["[" + "{}," * 66_000 + "]", "- 1:1:1\n" * 24_000])
def test_a_text_of_very_many_values_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="more than 20000 keys and values"):
        read_yaml(text)


def test_a_text_as_large_as_agents_come_is_read() -> None:
    data = {"prompt": "Do this.\n" * 15_000, "tools": [f"tool_{n}" for n in range(1_000)]}
    assert read_yaml(write_yaml(data)) == data


def test_keys_of_different_mappings_may_be_the_same() -> None:
    assert read_yaml("- {a: 1, b: {a: 2}}\n- {a: 3}") == [{"a": 1, "b": {"a": 2}}, {"a": 3}]


def test_a_long_text_of_digits_is_read_where_it_is_quoted() -> None:
    assert read_yaml(f"a: '{'9' * 5_000}'\nb: 1{' 1' * 5_000}") == {
        "a": "9" * 5_000,
        "b": "1" + " 1" * 5_000,
    }
