"""How long a regular expression can take, read off its syntax before it is used.

Parts of open length that can take characters from one another multiply the work by the length of
the text, and a repetition whose own rounds can do so multiplies it with every round. How the steps
are counted says ``pattern_walk``.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ...state.errors import ConfigurationError
from .charset import EVERYTHING, characters_of
from .pattern_walk import ENDLESS, Walk

_LONGEST_PATTERN = 2_000
_MOST_PARTS = 4_000
"""Parts looked at in one analysis; nested repetitions are looked at again and again."""
_MOST_STEPS = 2 * 10**8
"""Steps of one search: they are counted generously, so this is a fraction of a second."""
_WINDOWS = (1_048_576, 262_144, 65_536, 16_384, 4_096, 1_024, 256)
"""Lengths of text that a pattern may be able to search at once."""
_SINGLE = {"ANY", "LITERAL", "NOT_LITERAL", "IN"}
_OPTIONAL = {"MAX_REPEAT", "MIN_REPEAT"}
_FEW_ROUNDS = 8
"""Rounds that are looked at one by one, where their number is fixed."""
_ROUND = 6
"""Steps that the engine needs to begin a round of more than a character."""
_QUICK_SET = 32
"""Items of a set that are looked through in one step."""


def search_window(pattern: str) -> int:
    """How many characters a pattern can search at once within a bounded number of steps.

    Raises:
        ConfigurationError: The pattern is no regular expression (the message says where), is
            very long or complex, or can take too long on 256 characters.
    """
    parsed = ParsedPattern(pattern)
    for window in _WINDOWS:
        if window * parsed.steps(window, to_the_end=False) <= _MOST_STEPS:
            return window
    raise parsed.too_slow()


def check_match(pattern: str, longest: int) -> None:
    """Refuse a pattern that cannot be matched against a whole text in a bounded number of steps.

    Args:
        pattern: The regular expression.
        longest: Most characters of the text.

    Raises:
        ConfigurationError: It cannot, or it is no regular expression, or very long or complex.
    """
    parsed = ParsedPattern(pattern)
    if parsed.steps(longest) > _MOST_STEPS:
        raise parsed.too_slow()


class ParsedPattern:
    """A pattern as Python's own parser reads it.

    Args:
        pattern: The regular expression.

    Raises:
        ConfigurationError: It is none, or a very long one.
    """

    def __init__(self, pattern: str) -> None:
        if len(pattern) > _LONGEST_PATTERN:
            msg = f"The pattern has {len(pattern)} characters; {_LONGEST_PATTERN} are accepted."
            raise ConfigurationError(msg)
        self._pattern = pattern
        try:
            self._flags = re.compile(pattern).flags
            self._items: Any = importlib.import_module("re._parser").parse(pattern)
        except re.error as error:
            where = "" if error.pos is None else f" at position {error.pos}"
            msg = f"Pattern {pattern!r} is no regular expression{where}: {error.msg}; correct it."
            raise ConfigurationError(msg) from error
        except (RecursionError, OverflowError) as error:
            raise self._too_complex() from error

    def steps(self, longest: int, *, to_the_end: bool = True) -> int:
        """The most steps from one start in a text; 1,000,000,000 stands for all higher numbers.

        Args:
            longest: Characters of the text.
            to_the_end: The match has to reach the end of the text, so it can still fail behind
                what may be left out.

        Raises:
            ConfigurationError: The pattern is too complex to tell.
        """
        sure, last = list(self._items), list[Any]()
        while not to_the_end and sure and str(sure[-1][0]) in _OPTIONAL and not int(sure[-1][1][0]):
            last.append([sure.pop()])
        analysis = _Analysis(longest)
        try:
            return sum(analysis.walk(items, self._flags).steps for items in [sure, *last])
        except (RecursionError, _TooComplexError) as error:
            raise self._too_complex() from error

    def _too_complex(self) -> ConfigurationError:
        return ConfigurationError(
            f"Pattern {self._pattern[:80]!r} is nested too deeply or too long; simplify it."
        )

    def too_slow(self) -> ConfigurationError:
        """What to raise for a pattern with too many ways to read a text."""
        return ConfigurationError(
            f"Pattern {self._pattern!r} has parts that can share the same characters in too many "
            "ways, so hostile text can make it run for ever; put something fixed between the "
            "parts, bound them, or use one repetition."
        )


class _TooComplexError(Exception):
    pass


class _Analysis:
    """Walks through parsed patterns.

    Args:
        longest: Characters of the text.
    """

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._parts = 0

    def walk(self, items: Iterable[Any], flags: int) -> Walk:
        """Parts in a row, on their own."""
        walk = Walk(self._longest)
        self._sequence(walk, items, flags)
        return walk

    def _sequence(self, walk: Walk, items: Iterable[Any], flags: int) -> None:
        for op, argument in items:
            self._parts += 1
            if self._parts > _MOST_PARTS:
                raise _TooComplexError
            name = str(op)
            if name in _SINGLE:
                weight = 1 + len(argument) // _QUICK_SET if name == "IN" else 1
                walk.take(characters_of(name, argument, flags), weight)
            elif name in {"AT", "FAILURE"}:
                walk.work(1, 0)
            elif (handle := getattr(self, f"_{name.lower()}", None)) is not None:
                handle(walk, argument, flags)
            else:
                raise _TooComplexError

    def _subpattern(self, walk: Walk, argument: Any, flags: int) -> None:
        _, added, removed, body = argument
        self._sequence(walk, body, (flags | added) & ~removed)

    def _branch(self, walk: Walk, argument: Any, flags: int) -> None:
        walk.join_one_of([self.walk(items, flags) for items in argument[1]])

    def _groupref_exists(self, walk: Walk, argument: Any, flags: int) -> None:
        _, yes, no = argument
        walk.join_one_of([self.walk(yes, flags), self.walk(no or (), flags)])

    def _groupref(self, walk: Walk, _argument: Any, _flags: int) -> None:
        # What a group held can be anything, of any length.
        everything = Walk(self._longest, 0, ENDLESS, EVERYTHING, EVERYTHING, weight=1)
        walk.join(everything)

    def _assert(self, walk: Walk, argument: Any, flags: int) -> None:
        walk.work(self.walk(argument[1], flags).steps, 0)

    _assert_not = _assert

    def _atomic_group(self, walk: Walk, argument: Any, flags: int) -> None:
        walk.join_at_once(self.walk(argument, flags))

    def _possessive_repeat(self, walk: Walk, argument: Any, flags: int) -> None:
        least, most, body = argument
        inside = Walk(self._longest)
        inside.join(self._rounds(least, most, body, flags))
        walk.join_at_once(inside)

    def _max_repeat(self, walk: Walk, argument: Any, flags: int) -> None:
        least, most, body = argument
        if int(least) == int(most) <= _FEW_ROUNDS:
            for _ in range(int(least)):
                self._sequence(walk, body, flags)
        else:
            walk.join(self._rounds(least, most, body, flags))

    _min_repeat = _max_repeat

    def _rounds(self, least: Any, most: Any, body: Any, flags: int) -> Walk:
        """A repetition."""
        low, high = min(int(least), ENDLESS), min(int(most), ENDLESS)
        walk = self.walk(body, flags)
        once = replace(walk)
        ways, growth = once.ways, 1
        if high > 1:
            # What a second round adds, each further one adds: by then a part has met itself.
            self._sequence(walk, body, flags)
            growth = walk.ways // ways
            if growth > 1:
                ways *= growth ** min(high - 1, 64) * max(2, min(high - low, self._longest) + 1)
        if not once.low and high > low:
            ways *= 2
        single = once.high == once.low == once.weight == 1
        # Rounds without a character can all be at one place, those that grow are in the ways.
        rounds = low + 2 if growth == 1 and not once.low else 1
        return replace(
            once,
            low=min(low * once.low, ENDLESS),
            high=min(high * once.high, ENDLESS),
            head=once.head if low else [],
            undecided=[],
            ways=min(ways, ENDLESS),
            weight=min((once.weight + (0 if single else _ROUND)) * rounds, ENDLESS),
        )
