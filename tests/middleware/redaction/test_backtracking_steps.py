"""The steps that are counted ahead of a search are never fewer than those that it takes."""

from __future__ import annotations

import importlib
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from interlock.middleware.redaction.backtracking import ParsedPattern, search_window
from interlock.state.errors import ConfigurationError

Groups = Mapping[int, str]
Place = tuple[int, Groups]
"""Where a way has led to, and what the groups hold."""


class CountedSearch:
    """Tries every way to read a text and counts the characters that it looks at.

    Args:
        pattern: The regular expression.
        most: Steps after which it ends, with ``TimeoutError``.
    """

    def __init__(self, pattern: str, *, most: int) -> None:
        self._items: Any = importlib.import_module("re._parser").parse(pattern)
        self._flags = re.compile(pattern).flags
        self._most = most
        self._text = ""
        self.steps = 0

    def run(self, text: str, start: int) -> int:
        """The steps of all ways through the pattern."""
        self._text, self.steps = text, 0
        for _ in self._row(list(self._items), (start, {}), self._flags):
            pass
        return self.steps

    def _row(self, items: list[Any], place: Place, flags: int) -> Iterator[Place]:
        if not items:
            yield place
            return
        op, argument = items[0]
        for reached in self._one(str(op), argument, place, flags):
            yield from self._row(items[1:], reached, flags)

    def _one(  # noqa: C901, PLR0912 - one branch for each kind of part
        self, op: str, argument: Any, place: Place, flags: int
    ) -> Iterator[Place]:
        at, groups = place
        if op in {"LITERAL", "NOT_LITERAL", "IN", "ANY"}:
            self.steps += 1
            if self.steps > self._most:
                raise TimeoutError
            if at < len(self._text) and _fits(op, argument, self._text[at], flags):
                yield at + 1, groups
        elif op in {"MAX_REPEAT", "MIN_REPEAT"}:
            yield from self._repeat(argument, place, flags)
        elif op == "POSSESSIVE_REPEAT":
            yield from _first(self._repeat(argument, place, flags))
        elif op == "ATOMIC_GROUP":
            yield from _first(self._row(list(argument), place, flags))
        elif op == "SUBPATTERN":
            number, added, removed, body = argument
            for end, inner in self._row(list(body), place, (flags | added) & ~removed):
                kept = inner if number is None else {**inner, number: self._text[at:end]}
                yield end, kept
        elif op == "BRANCH":
            for items in argument[1]:
                yield from self._row(list(items), place, flags)
        elif op in {"ASSERT", "ASSERT_NOT"}:
            found = list(self._row(list(argument[1]), place, flags))
            if bool(found) == (op == "ASSERT"):
                yield place
        elif op == "GROUPREF":
            held = groups.get(argument)
            if held is not None and self._text.startswith(held, at):
                yield at + len(held), groups
        else:
            raise NotImplementedError(op)

    def _repeat(self, argument: Any, place: Place, flags: int, done: int = 0) -> Iterator[Place]:
        least, most, body = argument
        if done < int(most):
            for reached in self._row(list(body), place, flags):
                if reached[0] > place[0] or done < int(least):
                    yield from self._repeat(argument, reached, flags, done + 1)
        if done >= int(least):
            yield place


def _first(places: Iterable[Place]) -> list[Place]:
    return list(places)[:1]


def _fits(op: str, argument: Any, char: str, flags: int) -> bool:
    flags &= re.IGNORECASE | re.DOTALL | re.ASCII
    if op == "ANY":
        return char != "\n" or bool(flags & re.DOTALL)
    pattern = {"LITERAL": "{}", "NOT_LITERAL": "[^{}]"}.get(op)
    if pattern is not None:
        return re.fullmatch(pattern.format(re.escape(chr(argument))), char, flags) is not None
    negated = str(argument[0][0]) == "NEGATE"
    found = any(_in(str(kind), value, char, flags) for kind, value in argument[negated:])
    return found != negated


def _in(kind: str, value: Any, char: str, flags: int) -> bool:
    if kind == "LITERAL":
        return re.fullmatch(re.escape(chr(value)), char, flags) is not None
    if kind == "RANGE":
        both = "-".join(re.escape(chr(end)) for end in value)
        return re.fullmatch(f"[{both}]", char, flags) is not None
    letter = value.name if hasattr(value, "name") else str(value)
    known = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}[letter.rpartition("_")[2]]
    return (re.fullmatch(known, char, flags) is not None) != ("NOT_" in letter)


CHARS = "ab1 -жЖK♥😀"

_single = st.sampled_from(
    [
        *("a", "a", "b", "1", "-", "ж", "♥", "😀", "k", ".", "[ab]", "[^a]", "[^ж]", "[b-ж]"),
        *(r"\w", r"\d", r"\s", r"\W", r"[\dж]", r"[^\w♥]", "(?i:[jkж])", "(?s:.)"),
        *(r"(?a:\w)", r"(?a:\W)"),
    ]
)


def _wider(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    amount = st.sampled_from(
        ["*", "+", "?", "*?", "+?", "{2}", "{0,3}", "{2,}", "*+", "??", "{1,2}+"]
    )
    return st.one_of(
        st.lists(inner, min_size=1, max_size=4).map("".join),
        st.tuples(inner, amount).map(lambda p: f"(?:{p[0]}){p[1]}"),
        st.lists(st.one_of(inner, st.just("")), min_size=2, max_size=3).map(
            lambda parts: f"(?:{'|'.join(parts)})"
        ),
        inner.map(lambda p: f"(?={p})"),
        inner.map(lambda p: f"(?!{p})"),
        inner.map(lambda p: f"(?>{p})"),
    )


patterns = st.recursive(
    st.one_of(_single, st.tuples(_single, st.sampled_from("*+?")).map("".join)),
    _wider,
    max_leaves=8,
)
referring = st.tuples(patterns, patterns, patterns).map(lambda p: rf"({p[0]}){p[1]}\1{p[2]}")


def _texts_of(pattern: str, length: int) -> st.SearchStrategy[str]:
    """Texts of the pattern's own literals, mostly of a few that come again and again."""
    own = [c for c in pattern if c not in r"\()[]{}?*+|^:=!><."] or ["a"]
    few = st.lists(st.sampled_from([*own, *CHARS[:3]]), min_size=1, max_size=3).map("".join)
    return st.tuples(few, few).map(lambda p: (p[0] * length)[: length - 2] + p[1][:2])


@given(st.data())
def test_no_search_takes_more_steps_than_counted(data: st.DataObject) -> None:
    pattern = data.draw(st.one_of(patterns, referring))
    text = data.draw(_texts_of(pattern, 9))
    try:
        counted = ParsedPattern(pattern).steps(len(text))
    except ConfigurationError:
        return
    assume(counted < 200_000)
    search = CountedSearch(pattern, most=counted)
    for start in range(len(text) + 1):
        search.run(text, start)


@pytest.mark.slow
@given(st.data())
def test_accepted_pattern_ends_soon_on_text_of_its_own_literals(data: st.DataObject) -> None:
    pattern = data.draw(st.one_of(patterns, referring))
    try:
        window = min(search_window(pattern), 65_536)
    except ConfigurationError:
        return
    text = data.draw(_texts_of(pattern, window))
    began = time.process_time()
    for _ in re.finditer(pattern, text):
        pass

    assert time.process_time() - began < 30
