from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.graph.structured_output.names import safe_name, unique_names

ACCEPTED = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@pytest.mark.parametrize("name", ["Invoice", "_Private", "with-dash", "a" * 64, "ends_"])
def test_name_that_providers_accept_stays(name: str) -> None:
    assert safe_name(name) == name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Page[Item]", "Page_Item"),
        ("dict[str, list[int]]", "dict_str_list_int"),
        ("Übersicht", "Ubersicht"),
        ("3d model", "_3d_model"),
        ("a.b/c", "a_b_c"),
    ],
)
def test_other_name_is_replaced_by_a_similar_one(name: str, expected: str) -> None:
    assert safe_name(name) == expected


def test_name_without_any_usable_character_gets_a_lasting_one() -> None:
    assert safe_name("发票") == safe_name("发票") != safe_name("合同")


def test_long_names_with_the_same_beginning_stay_apart() -> None:
    assert safe_name("x" * 70 + "[a]") != safe_name("x" * 70 + "[b]")


@given(st.text())
def test_every_name_becomes_one_that_providers_accept(name: str) -> None:
    assert ACCEPTED.fullmatch(safe_name(name))


@given(st.lists(st.sampled_from(["A", "A[B]", "A_B", "A_2", "b" * 64, "b" * 80]) | st.text()))
def test_names_never_collide(names: list[str]) -> None:
    unique = unique_names(names)

    assert len(set(unique)) == len(names)
    assert all(map(ACCEPTED.fullmatch, unique))


def test_first_of_equal_names_keeps_it() -> None:
    assert unique_names(["Item", "Other", "Item"]) == ["Item", "Other", "Item_2"]
