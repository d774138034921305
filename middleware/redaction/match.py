"""What a detector finds: spans of a text, in one form whoever found them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from typing_extensions import TypedDict

from ...state.guardrail_errors import DetectorError


class PIIMatch(TypedDict):
    """One piece of sensitive data in a text."""

    type: str
    """What kind of data it is, such as ``email``."""
    value: str
    """The matched text."""
    start: int
    """Position of its first character."""
    end: int
    """Position after its last character."""


Detector = Callable[[str], list[PIIMatch]]
"""Finds sensitive data in a text."""

Span = tuple[int, int]


def matches_of(pii_type: str, text: str, spans: Iterable[Span]) -> list[PIIMatch]:
    """Matches for spans of a text, in order, overlapping ones made one."""
    return [
        PIIMatch(type=pii_type, value=text[start:end], start=start, end=end)
        for start, end in join_spans(spans)
    ]


def join_spans(spans: Iterable[Span]) -> list[Span]:
    """The spans in order, those that overlap joined."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def checked_matches(pii_type: str, text: str, found: Any) -> list[PIIMatch]:
    """What a foreign detector returned, checked: sorted, without overlaps, inside the text.

    Args:
        pii_type: Type of matches that name none.
        text: The text that was searched.
        found: Mappings with ``start`` and ``end``; ``value`` (or ``text``) and ``type`` may be
            left out.

    Raises:
        DetectorError: It is something else. A detector that errs must not let text pass.
    """
    if not isinstance(found, Iterable) or isinstance(found, (str, bytes, Mapping)):
        raise _refused(pii_type, found)
    entries = [_entry(pii_type, text, item) for item in cast("Iterable[Any]", found)]
    entries.sort(key=lambda entry: (entry["start"], -entry["end"]))
    kept: list[PIIMatch] = []
    for entry in entries:
        if kept and entry["start"] < kept[-1]["end"]:
            end = max(kept[-1]["end"], entry["end"])
            kept[-1] = _match(kept[-1]["type"], text, kept[-1]["start"], end)
        else:
            kept.append(entry)
    return kept


def _entry(pii_type: str, text: str, item: Any) -> PIIMatch:
    if not isinstance(item, Mapping):
        raise _refused(pii_type, item)
    entry = cast("Mapping[str, Any]", item)
    start, end = entry.get("start"), entry.get("end")
    if not isinstance(start, int) or not isinstance(end, int) or not 0 <= start < end <= len(text):
        raise _refused(pii_type, {"start": start, "end": end})
    return _match(str(entry.get("type") or pii_type), text, start, end)


def _match(pii_type: str, text: str, start: int, end: int) -> PIIMatch:
    return PIIMatch(type=pii_type, value=text[start:end], start=start, end=end)


def _refused(pii_type: str, found: Any) -> DetectorError:
    what = f"positions {found!r}" if isinstance(found, dict) else type(found).__name__
    return DetectorError(
        f"The detector for {pii_type!r} returned {what}; it must return a list of matches, each "
        "with 'start' and 'end' inside the text."
    )


def replace_spans(text: str, matches: Sequence[PIIMatch], new: Callable[[PIIMatch], str]) -> str:
    """``text`` with each match replaced; ``matches`` are in order and do not overlap."""
    parts: list[str] = []
    at = 0
    for match in matches:
        parts += [text[at : match["start"]], new(match)]
        at = match["end"]
    return "".join([*parts, text[at:]])
