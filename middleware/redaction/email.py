"""E-mail addresses, in plain and in usual disguised notation.

The search goes from each at-sign outwards, a bounded way, so text without addresses costs its
length however much it looks like one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .folding import folding_detector
from .match import Span

_AT = re.compile(
    r"@|%40|&#0?64;|&#x40;|\\u0040|[ ]?[\[({<][ ]?(?:at|@)[ ]?[\])}>][ ]?", re.IGNORECASE
)
_LOCAL_BACKWARDS = re.compile(r"[\w.%+&'~!#$-]{1,64}+")
_QUOTED_BACKWARDS = re.compile(r'"[^"\n]{1,62}"')
_DOT = r"(?:\.|[ ]?[\[({<][ ]?(?:dot|\.)[ ]?[\])}>][ ]?)"
_LABEL = r"[^\W_][\w-]{0,62}+"
_DOMAIN = re.compile(rf"{_LABEL}(?:{_DOT}{_LABEL})++", re.IGNORECASE)
_LITERAL = re.compile(r"\[(?:IPv6:)?[0-9A-Fa-f:.]{3,45}\]")
_LAST_LABEL = re.compile(rf"(.*){_DOT}({_LABEL})$", re.IGNORECASE | re.DOTALL)
_TLD = re.compile(r"[^\W\d_]{2,63}|xn--[a-z0-9-]{2,59}", re.IGNORECASE)

_LONGEST_LOCAL = 64
_LONGEST_DOMAIN = 255
"""Source: RFC 5321, sections 4.5.3.1.1 and 4.5.3.1.2, 2008."""


def find_emails(text: str) -> Iterator[Span]:
    """Spans of the addresses in a folded text."""
    for sign in _AT.finditer(text):
        end = _domain_end(text, sign.end())
        if end is None:
            continue
        start = _local_start(text, sign.start())
        if start is not None:
            yield start, end


def _local_start(text: str, at: int) -> int | None:
    before = text[max(0, at - _LONGEST_LOCAL) : at][::-1]
    found = _QUOTED_BACKWARDS.match(before) or _LOCAL_BACKWARDS.match(before)
    if found is None:
        return None
    length = found.end()
    if not before.startswith('"'):
        length = len(found[0].rstrip(".'&!#$"))
    return at - length if length else None


def _domain_end(text: str, start: int) -> int | None:
    if literal := _LITERAL.match(text, start):
        return literal.end()
    found = _DOMAIN.match(text, start, start + _LONGEST_DOMAIN)
    if found is None:
        return None
    domain = found[0]
    while last := _LAST_LABEL.match(domain):
        tld = last[2].rstrip("-_")
        if _TLD.fullmatch(tld):
            return start + last.start(2) + len(tld)
        domain = last[1]
    return None


detect_email = folding_detector("email", find_emails)
"""Matches of e-mail addresses."""
