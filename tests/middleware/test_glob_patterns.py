from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.middleware.glob_patterns import (
    expand_braces,
    is_valid_pattern,
    matches_include,
    matches_path,
    split_pattern,
)


@pytest.mark.parametrize(
    ("pattern", "expanded"),
    [
        ("*.py", ["*.py"]),
        ("*.{py,txt}", ["*.py", "*.txt"]),
        ("{a,b}.{c,d}", ["a.c", "a.d", "b.c", "b.d"]),
        ("{a,{b,c}}", ["a", "b", "a", "c"]),
        ("*.py}", None),
        ("*.{py", None),
        ("*.{}", None),
        ("{a,b}" * 8, None),
    ],
)
def test_braces_are_expanded_within_limits(pattern: str, expanded: list[str] | None) -> None:
    assert expand_braces(pattern) == expanded


@pytest.mark.parametrize("pattern", ["", "a\0b", "a\nb", "*" * 501, "*.{"])
def test_unusable_pattern_is_not_valid(pattern: str) -> None:
    assert not is_valid_pattern(pattern)


@pytest.mark.parametrize(
    ("path", "pattern", "fits"),
    [
        ("a.py", "*.py", True),
        ("src/a.py", "*.py", False),
        ("src/a.py", "**/*.py", True),
        ("a.py", "**/*.py", True),
        ("a/b/c.py", "a/**/c.py", True),
        ("a/c.py", "a/**/c.py", True),
        ("a/b/c", "**", True),
        ("a/b", "a/*", True),
        ("a/b/c", "a/*", False),
        ("a/x.ts", "a/?.[tj]s", True),
        ("app/[...slug]/page.tsx", "app/[...slug]/page.tsx", True),
        ("src..old/a", "src..old/*", True),
        ("A.py", "a.py", False),
    ],
)
def test_path_fits_part_by_part(path: str, pattern: str, fits: bool) -> None:
    (parts,) = split_pattern(pattern) or [[]]

    assert matches_path(path.split("/"), parts) is fits


@pytest.mark.parametrize("pattern", ["../x", "a/../../b", "{..,a}/x", "~/x", "a\\b", "..", "a/.."])
def test_pattern_that_leads_out_is_refused(pattern: str) -> None:
    assert split_pattern(pattern) is None


@given(
    st.lists(st.sampled_from(["a", "b"]), max_size=6),
    st.lists(st.sampled_from(["a", "*", "**"]), max_size=6),
)
def test_stars_agree_with_the_definition(path: list[str], pattern: list[str]) -> None:
    def fits(parts: list[str], rest: list[str]) -> bool:
        if not rest:
            return not parts
        if rest[0] == "**":
            return any(fits(parts[n:], rest[1:]) for n in range(len(parts) + 1))
        return bool(parts) and rest[0] in {"*", parts[0]} and fits(parts[1:], rest[1:])

    assert matches_path(path, pattern) is fits(path, pattern)


@pytest.mark.parametrize("pattern", ["**/" * 80 + "x", "*a" * 100 + "b", "[a-z]*" * 60])
def test_hostile_pattern_is_matched_quickly(pattern: str) -> None:
    began = time.perf_counter()
    for parts in split_pattern(pattern) or []:
        matches_path(["a" * 200] * 60, parts)

    assert time.perf_counter() - began < 2


def test_name_fits_one_of_the_choices() -> None:
    assert matches_include("a.ts", "*.{js,ts}")
    assert not matches_include("a.py", "*.{js,ts}")
    assert not matches_include("a.py", "*.{")
