from __future__ import annotations

import pytest

from interlock.middleware.redaction.backtracking import chain_length
from interlock.state.errors import ConfigurationError


@pytest.mark.parametrize(
    "pattern",
    [
        r"sk-[a-zA-Z0-9]{32}",
        r"\d{3}-\d{2}-\d{4}",
        r"\+91[\s.-]?\d{10}",
        r"\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}",
        r"(?:\d{4}[- ]?){4}",
        r"[A-Z]{2}\d{6}[A-D]?",
        r"a*+b",
    ],
)
def test_pattern_of_bounded_length_is_linear(pattern: str) -> None:
    assert chain_length(pattern) == 0


@pytest.mark.parametrize(
    ("pattern", "length"),
    [
        (r"sk-[a-z]+", 1),
        (r"(?:\d+-)+", 1),
        (r"(?:foo|far)+", 1),
        (r"(?:ab?)+c", 1),
        (r"(?:-?\d)+", 1),
        (r"(?>a+)b", 1),
        (r"\d+\d+x", 2),
        (r".*foo.*bar", 2),
        (r"\w+@\w+\.\w+", 1),
        (r"[\w.]+@[\w.]+\.\w+", 2),
        (r".*.*.*x", 3),
        (r"(\w+)=\1", 1),
        (r"(?i)X+x+", 2),
        (r"(?=\d+\d+)x", 2),
        (r"(a)?(?(1)b+|c+)", 1),
    ],
)
def test_repetitions_that_touch_are_counted(pattern: str, length: int) -> None:
    assert chain_length(pattern) == length


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+$",
        r"(a*)*",
        r"([a-zA-Z]+)*",
        r"(\w+\s?)+$",
        r"(x+x+)+y",
        r"(.*)*",
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
    ],
)
def test_pattern_that_can_run_for_ever_is_refused(pattern: str) -> None:
    with pytest.raises(ConfigurationError, match="for ever"):
        chain_length(pattern)


@pytest.mark.parametrize(
    ("pattern", "where"),
    [("[invalid", "position 0"), ("ab(c", "position 2"), ("a**", "position 2")],
)
def test_invalid_pattern_is_refused_with_its_position(pattern: str, where: str) -> None:
    with pytest.raises(ConfigurationError, match=where):
        chain_length(pattern)


def test_very_long_or_deep_pattern_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="characters"):
        chain_length("a" * 3_000)
    with pytest.raises(ConfigurationError):
        chain_length("(" * 900 + "a" + ")" * 900)
