"""Patterns of file names, matched part by part in bounded time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import translate
from functools import lru_cache

_LONGEST = 500
_MOST_ALTERNATIVES = 100
_BRACES = re.compile(r"\{([^{}]*)\}")


def expand_braces(pattern: str) -> list[str] | None:
    """The patterns that ``{a,b}`` stands for; None if braces do not match, or there are too many."""
    waiting, done = [pattern], list[str]()
    while waiting:
        current = waiting.pop(0)
        found = _BRACES.search(current)
        if found is None:
            if "{" in current or "}" in current:
                return None
            done.append(current)
            continue
        choices = found[1].split(",")
        if found[1] == "" or len(waiting) + len(done) + len(choices) > _MOST_ALTERNATIVES:
            return None
        head, tail = current[: found.start()], current[found.end() :]
        waiting = [f"{head}{choice}{tail}" for choice in choices] + waiting
    return done


def is_valid_pattern(pattern: str) -> bool:
    """Whether a pattern can be used: not empty, of bounded length, in one line, braces closed."""
    return (
        bool(pattern)
        and len(pattern) <= _LONGEST
        and pattern.isprintable()
        and expand_braces(pattern) is not None
    )


def split_pattern(pattern: str) -> list[list[str]] | None:
    """A pattern of paths as lists of parts; None if it is not valid or leads out of the root."""
    if not is_valid_pattern(pattern) or "\\" in pattern or pattern.startswith("~"):
        return None
    split = [
        [part for part in one.split("/") if part not in {"", "."}]
        for one in expand_braces(pattern) or []
    ]
    return None if any(".." in parts for parts in split) else split


def matches_path(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether a path fits a pattern, both as parts; ``**`` stands for any number of parts."""
    # Positions in the pattern that the parts read so far can have led to.
    places = _behind_stars({0}, pattern)
    for part in parts:
        reached: set[int] = set()
        for place in places:
            if place == len(pattern):
                continue
            if pattern[place] == "**":
                reached.add(place)
            elif matches_name(part, pattern[place]):
                reached.add(place + 1)
        places = _behind_stars(reached, pattern)
        if not places:
            return False
    return len(pattern) in places


def matches_name(name: str, pattern: str) -> bool:
    """Whether the name of a file fits a pattern without slashes, or is written just like it."""
    return name == pattern or _compiled(pattern).match(name) is not None


def matches_include(name: str, pattern: str) -> bool:
    """Whether the name of a file fits a pattern that may have braces."""
    return any(matches_name(name, one) for one in expand_braces(pattern) or [])


def _behind_stars(places: set[int], pattern: Sequence[str]) -> set[int]:
    reached: set[int] = set()
    for place in places:
        at = place
        reached.add(at)
        while at < len(pattern) and pattern[at] == "**":
            at += 1
            reached.add(at)
    return reached


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str]:
    # Python 3.11 translates stars into atomic groups, so matching does not backtrack.
    return re.compile(translate(pattern))
