"""What an MCP server sends, in the words of messages and tools."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Any

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST_NAME = 64
_LONGEST_DESCRIPTION = 2_000


def tool_name(prefix: str, name: str) -> str:
    """A server's name for a tool, made one that every provider accepts."""
    return _NOT_IN_NAMES.sub("_", f"{prefix}{name}")[:_LONGEST_NAME]


def description_of(tool: Any) -> str:
    """A server's description of a tool: not too long, and nothing in it that no reader sees."""
    text = tool.description or getattr(tool, "title", None) or f"The tool {tool.name}."
    visible = "".join(c for c in text if unicodedata.category(c) != "Cf")
    return visible[:_LONGEST_DESCRIPTION]


def content_of(blocks: Iterable[Any]) -> str | list[dict[str, Any]]:
    """Content of a result: text if it is all text, else content blocks in langchain's notation."""
    converted = [_block(block) for block in blocks]
    if all(block["type"] == "text" for block in converted):
        return "\n".join(block["text"] for block in converted)
    return converted


def _block(block: Any) -> dict[str, Any]:
    kind = getattr(block, "type", None)
    if kind == "text":
        return _text(block.text)
    if kind in {"image", "audio"}:
        return {"type": kind, "base64": block.data, "mime_type": block.mime_type}
    if kind == "resource":
        return resource_block(block.resource)
    if kind == "resource_link":
        return _text(f"[resource {block.name}: {block.uri}]")
    return _text(f"[content of type {kind!r}, which cannot be shown]")


def resource_block(resource: Any) -> dict[str, Any]:
    """The content of a resource: its text, or a file."""
    text = getattr(resource, "text", None)
    if isinstance(text, str):
        return _text(text)
    kind = getattr(resource, "mime_type", None) or "application/octet-stream"
    family = kind.partition("/")[0]
    block_type = family if family in {"image", "audio", "video"} else "file"
    return {"type": block_type, "base64": resource.blob, "mime_type": kind}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}
