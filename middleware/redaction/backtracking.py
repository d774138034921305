"""How long a regular expression can take, read off its syntax before it is used.

A repetition that can give characters back to one before it makes the search try every division
between them: each such link multiplies the work by the length of the text, and a repetition whose
own rounds overlap multiplies it without end. The analysis errs to the safe side.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from ...state.errors import ConfigurationError

_ALPHABET = frozenset([*range(128), *map(ord, "\xa0éßβя中٣の😀")])
"""Characters that stand for all others when two sets are compared."""

_CATEGORIES = {
    "CATEGORY_DIGIT": r"\d",
    "CATEGORY_NOT_DIGIT": r"\D",
    "CATEGORY_SPACE": r"\s",
    "CATEGORY_NOT_SPACE": r"\S",
    "CATEGORY_WORD": r"\w",
    "CATEGORY_NOT_WORD": r"\W",
}
_LONGEST_PATTERN = 2_000
_FEW_ROUNDS = 64
"""A repetition whose bounds are closer together counts by its choices, not by the text."""
_MOST_CHOICES = 12
"""Choices that bounded repetitions in a row may leave, as a power of two."""

Chars = frozenset[int]


@dataclass(frozen=True)
class _Loop:
    """A repetition that may still give characters back to what follows it."""

    chars: Chars
    chain: int
    """Open repetitions that take characters from one another, this one included."""
    choices: int
    """Choices of the bounded ones among them, as a power of two."""


@dataclass
class _Walk:
    """What has been seen of a sequence so far."""

    loops: list[_Loop] = field(default_factory=list[_Loop])
    chain: int = 0
    choices: int = 0
    """The highest of both in the sequence."""
    chars: Chars = frozenset()
    """Everything that the sequence can match."""
    first: Chars = frozenset()
    """What it can begin with."""
    nullable: bool = True
    """It can match nothing."""

    def repeat(self, chars: Chars, choices: int | None, *, nullable: bool) -> None:
        """A repetition of a body with these characters; ``choices`` None stands for no bound."""
        touching = [loop for loop in self.loops if loop.chars & chars]
        chain = max((t.chain for t in touching), default=0) + (choices is None)
        power = max((t.choices for t in touching), default=0) + (choices or 0)
        self.match(chars, nullable=nullable)
        self.loops.append(_Loop(chars, chain, power))
        self.chain, self.choices = max(self.chain, chain), max(self.choices, power)

    def match(self, chars: Chars, *, nullable: bool = False, first: Chars | None = None) -> None:
        """Characters that are there, or may be: repetitions without them cannot reach past."""
        self.chars |= chars
        if self.nullable:
            self.first |= chars if first is None else first
        if not nullable:
            self.loops = [loop for loop in self.loops if loop.chars & chars]
            self.nullable = False

    def join(self, part: _Walk) -> None:
        """A part that was walked beginning with the loops of this walk."""
        loops = [*self.loops, *part.loops] if part.nullable else part.loops
        self.match(part.chars, nullable=part.nullable, first=part.first)
        self.loops = loops
        self.deepen(part)

    def deepen(self, part: _Walk) -> None:
        """Take over how much work a part can be."""
        self.chain, self.choices = max(self.chain, part.chain), max(self.choices, part.choices)


def chain_length(pattern: str) -> int:
    """How many repetitions of a pattern can take characters from one another in a row.

    0 means that a search is linear in the text; each more multiplies by its length.

    Raises:
        ConfigurationError: The pattern is no regular expression (the message says where), is
            very long, or can take exponential time.
    """
    if len(pattern) > _LONGEST_PATTERN:
        msg = f"The pattern has {len(pattern)} characters; at most {_LONGEST_PATTERN} are accepted."
        raise ConfigurationError(msg)
    try:
        flags = re.compile(pattern).flags
        parsed = importlib.import_module("re._parser").parse(pattern)
    except re.error as error:
        where = "" if error.pos is None else f" at position {error.pos}"
        msg = f"Pattern {pattern!r} is no regular expression{where}: {error.msg}; correct it."
        raise ConfigurationError(msg) from error
    except (RecursionError, OverflowError) as error:
        msg = f"Pattern {pattern[:80]!r} is nested too deeply; simplify it."
        raise ConfigurationError(msg) from error
    walk = _Analysis(pattern, ignore_case=bool(flags & re.IGNORECASE)).sequence(parsed, ())
    if walk.choices > _MOST_CHOICES:
        raise _endless(pattern, "leaves too many choices to optional parts in a row")
    return walk.chain


def _endless(pattern: str, what: str) -> ConfigurationError:
    return ConfigurationError(
        f"Pattern {pattern!r} {what}, so hostile text can make it run for ever; put something "
        "fixed between the parts, or use one repetition."
    )


class _Analysis:
    def __init__(self, pattern: str, *, ignore_case: bool) -> None:
        self._pattern = pattern
        self._ignore_case = ignore_case

    def sequence(self, items: Iterable[Any], loops: Sequence[_Loop]) -> _Walk:
        walk = _Walk(loops=list(loops))
        for op, argument in items:
            self._item(walk, str(op), argument)
        return walk

    def _item(self, walk: _Walk, op: str, argument: Any) -> None:
        if op in {"LITERAL", "NOT_LITERAL", "ANY", "IN"}:
            walk.match(self._chars(op, argument))
        elif op in {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}:
            self._repeat(walk, op, *argument)
        elif op == "SUBPATTERN":
            walk.join(self.sequence(argument[-1], walk.loops))
        elif op == "ATOMIC_GROUP":
            self._atomic(walk, self.sequence(argument, ()))
        elif op == "BRANCH":
            self._branch(walk, argument[1])
        elif op in {"ASSERT", "ASSERT_NOT"}:
            walk.deepen(self.sequence(argument[1], ()))
        elif op in {"GROUPREF", "GROUPREF_IGNORE"}:
            walk.repeat(_ALPHABET, None, nullable=True)
        elif op == "GROUPREF_EXISTS":
            _, yes, no = argument
            self._branch(walk, [yes, no or []])

    def _repeat(self, walk: _Walk, op: str, low: Any, high: Any, body: Any) -> None:
        least, most = int(low), int(high)
        once = self.sequence(body, ())
        if most > 1:
            twice = self.sequence([*body, *body], ())
            if twice.chain > once.chain or twice.choices > once.choices:
                raise _endless(self._pattern, "repeats something that repeats itself")
        once.nullable = once.nullable or not least
        if op == "POSSESSIVE_REPEAT":
            self._atomic(walk, once)
        elif least == most:
            for _ in range(min(least, 2)):
                walk.join(self.sequence(body, walk.loops))
        else:
            few = most - least <= _FEW_ROUNDS
            choices = (most - least).bit_length() if few else None
            walk.repeat(once.chars, choices, nullable=once.nullable)
            walk.deepen(once)

    def _atomic(self, walk: _Walk, part: _Walk) -> None:
        """A part that gives nothing back."""
        walk.match(part.chars, nullable=part.nullable, first=part.first)
        walk.deepen(part)

    def _branch(self, walk: _Walk, alternatives: Sequence[Any]) -> None:
        parts = [self.sequence(items, walk.loops) for items in alternatives]
        both = any(a.first & b.first for n, a in enumerate(parts) for b in parts[:n])
        whole = _Walk(
            loops=[loop for part in parts for loop in part.loops],
            chars=frozenset(c for part in parts for c in part.chars),
            first=frozenset(c for part in parts for c in part.first),
            nullable=any(part.nullable for part in parts),
        )
        for part in parts:
            whole.deepen(part)
        if both or whole.nullable:
            # Two ways to read one text are a choice, as is a part that may be left out.
            whole.repeat(whole.chars, 1, nullable=whole.nullable)
        if sum(part.nullable for part in parts) > 1:
            # The parser takes out what alternatives begin with: of (a|a) two empty ones are left,
            # a choice that no character shows.
            power = max((loop.choices for loop in walk.loops), default=0) + 1
            whole.loops.append(_Loop(_ALPHABET, 0, power))
            whole.choices = max(whole.choices, power)
        walk.join(whole)

    def _chars(self, op: str, argument: Any) -> Chars:
        if op == "ANY":
            return _ALPHABET
        if op == "LITERAL":
            return self._cased([argument])
        if op == "NOT_LITERAL":
            return _ALPHABET - self._cased([argument])
        found: set[int] = set()
        negated = False
        for kind, value in cast("list[tuple[Any, Any]]", argument):
            if str(kind) == "NEGATE":
                negated = True
            elif str(kind) == "LITERAL":
                found.add(value)
            elif str(kind) == "RANGE":
                low, high = value
                found |= {low, high, *(c for c in _ALPHABET if low <= c <= high)}
            elif str(kind) == "CATEGORY":
                matches = re.compile(_CATEGORIES[str(value)]).match
                found |= {c for c in _ALPHABET if matches(chr(c))}
        cased = self._cased(found)
        return _ALPHABET - cased if negated else cased

    def _cased(self, codes: Iterable[int]) -> Chars:
        plain = frozenset(codes)
        if not self._ignore_case:
            return plain
        both = {f for c in plain for f in (chr(c).lower(), chr(c).upper()) if len(f) == 1}
        return plain | frozenset(map(ord, both))
