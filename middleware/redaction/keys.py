"""Keys of messages and content blocks by what their values are."""

from __future__ import annotations

import re
from typing import Any

STRUCTURAL_KEYS = frozenset(
    {
        "cache_control",
        "detail",
        "encrypted_content",
        "encrypted_index",
        "file_id",
        "format",
        "id",
        "index",
        "media_type",
        "mime_type",
        "name",
        "role",
        "signature",
        "thought_signature",
        "tool_call_id",
        "tool_use_id",
        "type",
    }
)
"""Keys of content blocks whose values are names and numbers, not text. What a model or a tool calls
so in arguments and results is text like any other."""

BINARY_KEYS = frozenset({"base64", "data"})
"""Keys whose values are binary data, where they look like it."""

MEDIA_KEYS = frozenset({"file_url", "image_url", "uri", "url"})
"""Keys that say where a picture or file is."""

CALL_BLOCKS = frozenset(
    {
        "function_call",
        "input_json_delta",
        "invalid_tool_call",
        "server_tool_call",
        "server_tool_call_chunk",
        "server_tool_use",
        "tool_call",
        "tool_call_chunk",
        "tool_use",
    }
)
"""Content blocks that carry the arguments of a call."""

JSON_KEYS = frozenset({"arguments", "args", "partial_json"})
"""Keys whose texts are JSON."""

ARGUMENTS = frozenset({"arguments", "args", "input"})
"""Keys of arguments: below them no key is structural."""

_BASE64 = re.compile(r"[\w+/=-]*\s*", re.ASCII)
_DATA_URL = re.compile(r"data:[\w.+/-]*(?:;[\w.=+-]+)*;base64,[\w+/=-]*\s*", re.ASCII)
SHORTEST_BINARY = 256
"""Characters of binary data outside of content blocks: shorter, it may be a number or a key."""


def is_data_url(text: str) -> bool:
    """Whether a text is nothing but data in base64 with its type."""
    return text.startswith("data:") and _DATA_URL.fullmatch(text) is not None


def is_spared(key: Any, item: Any, kept: frozenset[str], fixed: frozenset[str]) -> bool:
    """Whether the value of a key is no text.

    Args:
        key: The key.
        item: Its value.
        kept: Keys whose values are left alone.
        fixed: Keys whose values are left alone unless they hold more values.
    """
    if key in kept or (key in fixed and not isinstance(item, (dict, list))):
        return True
    if key not in BINARY_KEYS or not isinstance(item, str):
        return False
    return (bool(fixed) or len(item) >= SHORTEST_BINARY) and bool(_BASE64.fullmatch(item))
