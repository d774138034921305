"""The text of a reply whose blocks arrive in pieces: it is read as one, and shown block by block."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Generic, Protocol, TypeVar, cast

from .borders import alike, change_across
from .lookback import Lookback
from .match import Span

Place = TypeVar("Place", bound=Hashable)


class Finder(Protocol):
    """What is looked for, and what becomes of it."""

    @property
    def lookback(self) -> int:
        """Characters that are held back."""
        ...

    def spans(self, text: str, /) -> Iterable[Span]:
        """Where something sensitive is."""
        ...

    def redact(self, text: str, /) -> str:
        """A text with everything sensitive replaced."""
        ...


class TextRun(Generic[Place]):
    """Takes pieces of text blocks, and gives what may be shown, each with its place.

    Blocks come one after the other: what lies across their border is found. Should the pieces of
    several blocks come in turns, each block is looked at alone from then on, with the end of what
    was shown of it.
    """

    def __init__(self, finder: Finder) -> None:
        self._finder = finder
        self._held = Lookback(self._spans, finder.redact, finder.lookback)
        self._parts: list[tuple[Place, int]] = []
        """What is held: whose, and how many characters."""
        self._seen: set[Place] = set()
        self._alone: dict[Place, Lookback] | None = None
        self._ends: dict[Place, str] = {}
        """What was let go last of each block, as it was before it was changed."""
        self._shown: dict[Place, str] = {}
        """Of blocks that are looked at again with their ends: what has been shown already."""

    def feed(self, place: Place, piece: str) -> list[tuple[Place, str]]:
        """Take the next piece of a block; what may be shown now, changed."""
        latest = self._parts[-1][0] if self._parts else place
        if self._alone is None and place != latest and place in self._seen:
            return [*self._separated(), *self.feed(place, piece)]
        self._seen.add(place)
        if self._alone is not None:
            return [(place, self._not_shown(place, self._buffer(place).feed(piece)))]
        if self._parts and place == latest:
            self._parts[-1] = (place, self._parts[-1][1] + len(piece))
        else:
            self._parts.append((place, len(piece)))
        shown = self._held.take(piece)
        return self._changed(self._taken(shown)) if shown else []

    def flush(self) -> list[tuple[Place, str]]:
        """The rest, changed."""
        if self._alone is None:
            return self._changed(self._taken(self._held.drain()))
        rest = self._changed([(place, buffer.drain()) for place, buffer in self._alone.items()])
        return [(place, self._not_shown(place, text)) for place, text in rest]

    def _buffer(self, place: Place) -> Lookback:
        """The buffer of a block that is looked at alone."""
        alone = cast("dict[Place, Lookback]", self._alone)
        if place not in alone:
            finder = self._finder
            alone[place] = Lookback(finder.spans, finder.redact, finder.lookback)
            end = self._ends.pop(place, "")
            self._shown[place] = finder.redact(end)
            alone[place].take(end)
        return alone[place]

    def _not_shown(self, place: Place, text: str) -> str:
        """A text without its beginning, where that has been shown already."""
        shown = self._shown.get(place, "")
        if shown.startswith(text):
            self._shown[place] = shown[len(text) :]
            return ""
        self._shown[place] = ""
        return text[alike(shown, text) :]

    def _separated(self) -> list[tuple[Place, str]]:
        """Go on with each block alone; what may be shown of what was held."""
        held = self._taken(self._held.drain(), keeps=False)
        self._alone = {}
        shown: list[tuple[Place, str]] = []
        for place, text in held:
            shown.append((place, self._not_shown(place, self._buffer(place).feed(text))))
        return shown

    def _spans(self, text: str) -> Iterator[Span]:
        """Spans in the whole of a text, and in each block of it."""
        yield from self._finder.spans(text)
        if len(self._parts) > 1:
            start = 0
            for _, length in self._parts:
                for begin, end in self._finder.spans(text[start : start + length]):
                    yield start + begin, start + end
                start += length

    def _taken(self, text: str, *, keeps: bool = True) -> list[tuple[Place, str]]:
        """The beginning of what was held, by block; it keeps the ends of what is let go."""
        taken: list[tuple[Place, str]] = []
        while text:
            place, length = self._parts.pop(0)
            taken.append((place, text[:length]))
            if keeps:
                end = self._ends.get(place, "") + text[:length]
                self._ends[place] = end[-self._finder.lookback :]
            if length > len(text):
                self._parts.insert(0, (place, length - len(text)))
            text = text[length:]
        return taken

    def _changed(self, parts: list[tuple[Place, str]]) -> list[tuple[Place, str]]:
        redact = self._finder.redact
        texts = change_across([redact(text) for _, text in parts], redact)
        return [(place, text) for (place, _), text in zip(parts, texts, strict=True)]
