"""Foreign text made fit for an error message: short and printable."""

from __future__ import annotations

import re
from typing import Final

_LIMIT: Final = 500
_TITLE: Final = re.compile(rb"<title[^>]{0,200}>([^<]{0,200})", re.IGNORECASE)


def excerpt(text: str, limit: int = _LIMIT) -> str:
    """Return the beginning of a text on one line, control characters replaced.

    Args:
        text: Any text.
        limit: Most characters to keep.
    """
    short = text[: limit + 1]
    line = " ".join("".join(c if c.isprintable() or c.isspace() else "?" for c in short).split())
    return line if len(text) <= limit else f"{line[:limit]}..."


def describe_body(body: bytes, content_type: str) -> str:
    """Return what came instead of JSON, in a few words.

    Args:
        body: The body, or its beginning.
        content_type: The answer's content type.
    """
    if not body.strip():
        return "an empty body"
    kind = f" ({excerpt(content_type, 80)})" if content_type else ""
    start = body.lstrip()[:200].lower()
    if "html" in content_type or start.startswith((b"<!doctype html", b"<html")):
        title = _TITLE.search(body[:10_000])
        titled = f" titled {excerpt(title[1].decode('utf-8', 'replace'), 80)!r}" if title else ""
        return f"an HTML page{titled} instead of JSON"
    return f"{excerpt(body[:2000].decode('utf-8', 'replace'), 200)!r}{kind}"
