"""What a part of a regular expression can match, and how many ways and steps that can take.

Python's engine tries one way to read a text after the other, so a search costs as many steps as
there are ways. They are counted here, never too few, as a product of two numbers:

* the *places* that the engine can be at in one part of the pattern: at most one for each length
  that what stands before can have;
* the *ways* it can get from the start to one such place. A part of open length adds none of its
  own as long as the text decides where it ends, as digits before a dash. Where what follows can
  begin with characters of the part, every length of it is another way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

ENDLESS = 10**9
"""Stands for all higher numbers."""


@dataclass(frozen=True)
class Undecided:
    """A part whose end the text has not decided yet."""

    chars: int
    lengths: int
    """How many lengths it can have."""
    ends: int = 1
    """Ends it can have once the text has decided, for what was matched in between."""


@dataclass
class Walk:
    """Parts in a row. Sets of characters are those of ``charset``.

    Args:
        longest: Characters of the text.
    """

    longest: int
    low: int = 0
    high: int = 0
    """Least and most characters."""
    chars: int = 0
    first: int = 0
    """Characters it can hold, and those it can begin with."""
    head: list[int] = field(default_factory=list[int])
    """What its first characters can be, one by one, as long as their place is certain."""
    undecided: list[Undecided] = field(default_factory=list[Undecided])
    ways: int = 1
    weight: int = 0
    """Steps at one place."""
    steps: int = 0

    def take(self, chars: int, weight: int) -> None:
        """One character that must be there."""
        self._follow(chars, chars, 1, 1)
        self._extend(chars, chars, [chars], 1, 1)
        self.work(weight, 0)

    def join(self, part: Walk, *, decided: bool = False) -> None:
        """A part walked on its own; ``decided`` where its start leaves it one end only."""
        self._follow(part.first, part.chars, part.low, part.high)
        self.ways = min(self.ways * part.ways, ENDLESS)
        if part.low != part.high and not decided:
            lengths = min(part.high - part.low, self.longest) + 1
            self.undecided.append(Undecided(part.chars, lengths))
        self.work(part.weight, part.high)
        self._extend(part.first, part.chars, part.head, part.low, part.high)

    def join_at_once(self, part: Walk) -> None:
        """A part that gives nothing back: all of its work, and then one way out."""
        self.work(part.steps, 0)
        self.join(replace(part, ways=1, weight=0), decided=True)

    def join_one_of(self, parts: Sequence[Walk]) -> None:
        """One of several parts."""
        rivals = [[p for p in parts if p is q or not _exclude_each_other(p, q)] for q in parts]
        whole = Walk(
            self.longest,
            low=min(part.low for part in parts),
            high=max(part.high for part in parts),
            head=list(_common_head(parts)),
            ways=max(sum(part.ways for part in group) for group in rivals),
            weight=1 + sum(part.weight for part in parts),
        )
        for part in parts:
            whole.chars |= part.chars
            whole.first |= part.first
        decided = all(len(group) == 1 for group in rivals)
        self.join(whole, decided=decided)
        if decided:
            # The text decides for one of them: only what that one leaves open is open.
            self.undecided += [still for part in parts for still in part.undecided]

    def work(self, weight: int, reach: int) -> None:
        """Count steps at every place that can be reached, up to ``reach`` characters further."""
        places = min(self.high - self.low + reach, self.longest) + 1
        self.weight = min(self.weight + weight, ENDLESS)
        self.steps = min(self.steps + weight * places * self.ways, ENDLESS)

    def _follow(self, first: int, chars: int, low: int, high: int) -> None:
        """Decide the ends of parts before by what comes next, or count them as ways."""
        kept: list[Undecided] = []
        free = 0
        for part in self.undecided:
            if not part.chars & first:
                self.ways *= part.ends
                if not low:
                    kept.append(replace(part, ends=1))
            elif low == high:
                inside = not chars & ~part.chars
                kept.append(part if inside else replace(part, ends=part.ends + high))
            else:
                # Of several, the last one that is not empty decides the others.
                free += part.lengths * part.ends
        self.ways = min(self.ways * max(free, 1), ENDLESS)
        self.undecided = kept

    def _extend(self, first: int, chars: int, head: Sequence[int], low: int, high: int) -> None:
        if not self.low:
            self.first |= first
        if len(self.head) == self.low == self.high:
            self.head = [*self.head, *head]
        self.chars |= chars
        self.low = min(self.low + low, ENDLESS)
        self.high = min(self.high + high, ENDLESS)


def _exclude_each_other(a: Walk, b: Walk) -> bool:
    """Whether no text can begin with both."""
    apart = bool(a.low and b.low) and not a.first & b.first
    return apart or any(not x & y for x, y in zip(a.head, b.head, strict=False))


def _common_head(parts: Sequence[Walk]) -> Iterator[int]:
    """What the first characters of alternatives can be, as far as all of them are certain."""
    for column in zip(*(part.head for part in parts), strict=False):
        chars = 0
        for choice in column:
            chars |= choice
        yield chars
