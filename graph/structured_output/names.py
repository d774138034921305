"""Names that every provider accepts for a tool or a schema."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable

MAX_NAME_LENGTH = 64
"""Longest name of a function that OpenAI, Anthropic and Google accept.

Source: OpenAI API reference, "Create chat completion", field ``tools[].function.name``, 2026.
"""

_SAFE = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_UNSAFE_RUN = re.compile(r"[^A-Za-z0-9_-]+")
_DIGEST_LENGTH = 8


def safe_name(name: str) -> str:
    """Give ``name`` itself where providers accept it, else the nearest name that they do.

    The same name always gives the same result, so a thread that is resumed in another process
    still knows its output tools.

    >>> safe_name("Invoice"), safe_name("Boxed[int]"), safe_name("Übersicht")
    ('Invoice', 'Boxed_int', 'Ubersicht')
    """
    if _SAFE.fullmatch(name):
        return name
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    replaced = _UNSAFE_RUN.sub("_", plain)
    if not plain.endswith("_"):
        replaced = replaced.rstrip("_")
    if not replaced.strip("_-"):
        return f"schema_{_digest(name)}"
    if not re.match(r"[A-Za-z_]", replaced):
        replaced = f"_{replaced}"
    if len(replaced) > MAX_NAME_LENGTH:
        replaced = f"{replaced[: MAX_NAME_LENGTH - _DIGEST_LENGTH - 1]}_{_digest(name)}"
    return replaced


def unique_names(names: Iterable[str]) -> list[str]:
    """Give safe names in the same order, no two of them alike.

    The first of several equal names keeps it; the others get ``_2``, ``_3``, ... at the end.

    >>> unique_names(["Item", "Item", "Item_2"])
    ['Item', 'Item_3', 'Item_2']
    """
    wanted = [safe_name(name) for name in names]
    taken = set(wanted)
    used: set[str] = set()
    result: list[str] = []
    for name in wanted:
        chosen, number = name, 2
        while chosen in used or (chosen != name and chosen in taken):
            ending = f"_{number}"
            chosen, number = name[: MAX_NAME_LENGTH - len(ending)] + ending, number + 1
        used.add(chosen)
        result.append(chosen)
    return result


def _digest(name: str) -> str:
    data = name.encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()[:_DIGEST_LENGTH]
