from __future__ import annotations

import re
import time

import pytest

from interlock.middleware.redaction.backtracking import check_match, search_window
from interlock.state.errors import ConfigurationError

LINE = 4_096
PAGE = 65_536


@pytest.mark.parametrize(
    "pattern",
    [
        r"sk-[a-zA-Z0-9]{32}",
        r"\d{3}-\d{2}-\d{4}",
        r"\+91[\s.-]?\d{10}",
        r"(?:\d{1,3}\.){3}\d{1,3}",
        r"(?:\d{4}[- ]?){4}",
        r"[A-Z]{2}\d{6}[A-D]?",
        r"\+?\d{1,3}[ -]?\(?\d{1,4}\)?[ -]?\d{1,4}[ -]?\d{1,9}",
    ],
)
def test_pattern_of_bounded_length_searches_pages_at_once(pattern: str) -> None:
    assert search_window(pattern) >= PAGE


@pytest.mark.parametrize(
    "pattern",
    [
        r"sk-[a-z]+",
        r"(?:\d+-)+",
        r"(?:ab?)+c",
        r"(?:-?\d)+",
        r"(?>a+)b",
        r"a*+b",
        r"\w+@\w+\.\w+",
        r"(\w+)=\1",
        r"(a)?(?(1)b+|c+)",
        r"[ж-яё]+\s+[ж-яё]+\s+[ж-яё]+",
        r'"(?:\\.|[^"\\])*"',
        r"^(?=.*[a-z])(?=.*\d).{8,}$",
        r"\w+ing\s+\w+ed\s",
        r"(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)",
    ],
)
def test_open_repetitions_that_the_text_ends_search_lines_at_once(pattern: str) -> None:
    assert search_window(pattern) == LINE


@pytest.mark.parametrize(
    "pattern",
    [
        r"\d+\d+x",
        r".*foo.*bar",
        r".*error.*timeout.*",
        r"[\w.]+@[\w.]+\.\w+",
        r"(?i)X+x+y",
        r"(?=\d+\d+)x",
        r"a*(?=a*b)",
        r"(?:(?!a*b)a)*c",
    ],
)
def test_repetitions_that_share_characters_search_little_at_once(pattern: str) -> None:
    assert search_window(pattern) == 256


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+$",
        r"(a*)*b",
        r"([a-zA-Z]+)*b",
        r"(\w+\s?)+$",
        r"(x+x+)+y",
        r"(.*)*x",
        r"(a{1,3}){1,50}b",
        r"(?:\w\w|\w)+$",
        r"(a|b|ab)*c",
        r"(.a|a.)*b",
        r"(a|a)*b",
        r"(?:ab|ab)+c",
        r"(?:a|ab|a)*c",
        r"(a?){20}a{20}",
        "a?" * 20 + "a" * 20,
        r"(?=(a+)+)b",
        r"(?:a|(?:b+)+)c",
        r"(a)(?:\1|a)+b",
        r".*.*.*x",
        r"a*a*a*a*b",
        r"(ж|.)+!",
        r"(?:♥|[^x])+!",
        r"(?:国a|\wa)+!",
        r"(?i:ab|AB)+!",
        r"(?i:\u017fb|sb)+!",
        r"(?a:\Wb|éb)+!",
        r"(?:\b)?" * 30 + "x",
        r"(?:(?:\b)?a )*c",
    ],
)
def test_pattern_that_can_run_for_ever_is_refused(pattern: str) -> None:
    with pytest.raises(ConfigurationError, match="for ever"):
        search_window(pattern)


def test_groups_of_repetitions_multiply_even_with_something_fixed_between() -> None:
    assert search_window("a*a*-x") == 256
    with pytest.raises(ConfigurationError, match="for ever"):
        search_window("a*a*-" * 8 + "x")


@pytest.mark.parametrize("pattern", ["a*a*a*b", r".*.*.*x", "(a*)*"])
def test_match_of_a_whole_text_is_bounded_too(pattern: str) -> None:
    with pytest.raises(ConfigurationError, match="for ever"):
        check_match(pattern, LINE)
    check_match("a*a*b", LINE)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("(?:a?){12}b", "a"),
        (r"(?:\w+ )+!", "a "),
        (r"(?:ab?)+c", "ab"),
        ("(?:.*a){2}b", "a"),
        ("(?:(?!a*b)a)*c", "a"),
        ("(?i)(?:aé|b[é-ü])*x", "aé"),
        ("[ab]{1,500}[bc]{1,500}!", "b"),
        ("(?:a{1000}){1000}b", "a"),
    ],
)
def test_search_of_one_window_ends_soon(pattern: str, text: str) -> None:
    window = search_window(pattern)
    began = time.process_time()
    re.search(pattern, (text * window)[:window])

    assert time.process_time() - began < 20


@pytest.mark.parametrize(
    ("pattern", "where"),
    [("[invalid", "position 0"), ("ab(c", "position 2"), ("a**", "position 2")],
)
def test_invalid_pattern_is_refused_with_its_position(pattern: str, where: str) -> None:
    with pytest.raises(ConfigurationError, match=where):
        search_window(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        "a" * 3_000,
        "(" * 900 + "a" + ")" * 900,
        "(?:" * 30 + "a" + "b)*" * 30,
        "(?:a{8}b{8}){8}" * 90,
    ],
)
def test_very_long_or_deep_pattern_is_refused_at_once(pattern: str) -> None:
    began = time.process_time()
    with pytest.raises(ConfigurationError):
        search_window(pattern)

    assert time.process_time() - began < 20
