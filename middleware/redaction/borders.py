"""Texts that are read as one, such as the text blocks of a message: data can lie across borders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile
from operator import eq
from typing import Any, cast

Change = Callable[[str], str]


def change_across(texts: Sequence[str], change: Change) -> Sequence[str]:
    """Texts that are changed already, and now where something lies across their borders.

    Joined, they are what ``change`` makes of all of them in one; what was changed before stays, so
    the beginning of something may be left whose rest, in the next text, was found by itself. What
    replaces a match goes to the text in which it begins. Takes time proportional to their length.
    """
    whole = "".join(texts)
    new = change(whole)
    if new == whole:
        return texts
    before = alike(whole, new)
    after = min(alike(whole[::-1], new[::-1]), len(whole) - before, len(new) - before)
    cuts, end = [0], 0
    for text in texts[:-1]:
        end += len(text)
        from_end = len(whole) - end
        cuts.append(end if end <= before else len(new) - min(from_end, after))
    return [new[a:b] for a, b in zip(cuts, [*cuts[1:], len(new)], strict=True)]


def alike(one: str, other: str) -> int:
    """Length of the beginning that two texts have in common."""
    return sum(1 for _ in takewhile(bool, map(eq, one, other)))


def join_blocks(blocks: list[Any], change: Change) -> list[Any]:
    """Content blocks with what lies across the borders of text blocks changed.

    A block whose text has all gone to the one before it is left out.

    Args:
        blocks: Content of a message, each block changed already.
        change: What becomes of a text.
    """
    places = [n for n, block in enumerate(blocks) if _text_of(block)]
    texts = [cast("str", _text_of(blocks[n])) for n in places]
    if len(texts) < 2:  # noqa: PLR2004 - a border has two sides
        return blocks
    changed = change_across(texts, change)
    if changed is texts:
        return blocks
    new = dict(zip(places, changed, strict=True))
    return [
        _with_text(block, new[n]) if n in new else block
        for n, block in enumerate(blocks)
        if new.get(n) != ""
    ]


def _text_of(block: Any) -> str | None:
    """What a block adds to the text of its message."""
    if isinstance(block, str):
        return block
    parts = cast("dict[str, Any]", block) if isinstance(block, dict) else {}
    text = parts.get("text") if parts.get("type") == "text" else None
    return text if isinstance(text, str) else None


def _with_text(block: Any, text: str) -> Any:
    if isinstance(block, str):
        return text
    return block if block["text"] == text else {**block, "text": text}
