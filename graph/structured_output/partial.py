"""The value of a structured answer while it is still being written."""

from __future__ import annotations

from typing import Any

from pydantic_core import from_json

from .reading import without_fence


def partial_value(text: str) -> Any:
    """Give what can be read from the beginning of a JSON text, or None.

    Text in the making is read as far as it goes, so a list grows and a string gets longer with
    each call; a number may still change. Nothing is checked against a schema.

    >>> partial_value('{"name": "Ad'), partial_value('{"name": "Ada", "tags": ["x", ')
    ({'name': 'Ad'}, {'name': 'Ada', 'tags': ['x']})
    """
    try:
        return from_json(without_fence(text), allow_partial="trailing-strings")
    # Nothing yet, no JSON, or text that is no valid Unicode.
    except (ValueError, TypeError):
        return None
