"""A tool result taken out of the conversation: what is stored, and what is left in its place."""

from __future__ import annotations

import logging
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from mimetypes import guess_extension
from pathlib import PurePath
from typing import Any, cast

from langchain_core.messages import ToolMessage
from langgraph.errors import GraphBubbleUp

from ..state.errors import WouldBlockError
from ..tools.calls import Dual
from .flows import Ask, Flow
from .tool_result_stores import ToolResultStore, result_key, safe_name

logger = logging.getLogger(__name__)

OFFLOADED = "tool_result_offloaded"
"""Key of ``response_metadata`` with the references under which a result was stored."""

_CUT_NOTE = "\n[cut: "


@dataclass(frozen=True)
class Part:
    """One piece of a result, stored under a key of its own."""

    content: str | bytes
    occupies: str
    """What stands for it in the conversation: text, or base64."""
    kind: str = "text"
    """Its type, such as ``image/png``."""
    name: str | None = None
    """What the tool called the file."""

    @property
    def suffix(self) -> str:
        """The ending of its key."""
        if isinstance(self.content, str):
            return ".txt"
        own = PurePath(self.name or "").suffix or guess_extension(self.kind) or ".bin"
        return f".{safe_name(own, 12)}"

    def pointer(self, reference: str, preview_chars: int) -> str:
        """What the model reads about it."""
        if isinstance(self.content, str):
            shown = self.content[:preview_chars]
            more = "..." if len(self.content) > preview_chars else ""
            size = f"text ({len(self.content)} characters) at {reference!r}"
            return f"{size}. It begins: {shown}{more}" if shown else f"{size}."
        named = f" named {self.name!r}" if self.name else ""
        return f"{self.kind}{named} ({len(self.content)} bytes) at {reference!r}."


def parts_of(result: ToolMessage, store: ToolResultStore) -> list[Part] | None:
    """The pieces of a result, or None if it is empty or the store cannot take all of it."""
    content: Any = result.content
    blocks = cast("list[Any]", content) if isinstance(content, list) else [whole_text(result)]
    parts = [part for block in blocks if (part := _part(block)) is not None]
    if len(parts) < len(blocks) or not any(part.content for part in parts):
        return None
    if not store.supports_binary_content and any(isinstance(p.content, bytes) for p in parts):
        logger.warning(
            "The result of tool %r has images or files, which %s does not take; it stays.",
            result.name,
            type(store).__name__,
        )
        return None
    return parts


def offload(
    result: ToolMessage,
    parts: Sequence[Part],
    store: ToolResultStore,
    place: tuple[str | None, Sequence[object]],
    preview_chars: int,
) -> Flow[ToolMessage | None]:
    """Store a result; the message that points to it, or None if it could not be stored.

    Args:
        result: The message of the result. Not changed.
        parts: Its pieces, see :func:`parts_of`.
        store: Takes them.
        place: Folder and readable part of the keys.
        preview_chars: How much of a text is left in the message.
    """
    references: list[str] = []
    pointers: list[str] = []
    write = Dual("the store of tool results", sync=store.write)
    try:
        for part in parts:
            key = f"{result_key(*place)}{part.suffix}"
            reference: str = yield Ask(write, (key, part.content))
            references.append(reference)
            pointers.append(part.pointer(reference, preview_chars))
    except (GraphBubbleUp, WouldBlockError):
        raise
    except Exception as error:  # noqa: BLE001 - a store that fails must not cost the result
        logger.warning("The result of tool %r stays: %r", result.name, error)
        return None
    listed = pointers[0] if len(pointers) == 1 else "".join(f"\n- {p}" for p in pointers)
    update: dict[str, Any] = {
        "content": f"This result was moved to the store: {listed}",
        "response_metadata": {**result.response_metadata, OFFLOADED: references},
    }
    if parts[0].content == result.artifact:
        update["artifact"] = None
    return result.model_copy(update=update)


def whole_text(result: ToolMessage) -> str:
    """The text of a result, as it was before the executor cut it."""
    text, artifact = str(result.content), result.artifact
    shown, cut, _ = text.rpartition(_CUT_NOTE)
    return artifact if cut and isinstance(artifact, str) and artifact.startswith(shown) else text


def _part(block: Any) -> Part | None:
    """A content block as a part; None for one that refers to something elsewhere."""
    if isinstance(block, str):
        return Part(block, block)
    if not isinstance(block, Mapping):
        return None
    values = cast("Mapping[str, Any]", block)
    if isinstance(text := values.get("text"), str):
        return Part(text, text)
    encoded, kind = _base64_of(values)
    if encoded is None:
        return None
    try:
        data = b64decode(encoded, validate=True)
    except (Base64Error, ValueError):
        return None
    name = values.get("filename") or values.get("name")
    return Part(data, encoded, kind, name if isinstance(name, str) else None)


def _base64_of(block: Mapping[str, Any]) -> tuple[str | None, str]:
    """The encoded content of a block in any of the usual notations, and its type."""
    kind = str(block.get("mime_type") or block.get("media_type") or block.get("type") or "file")
    inner: Any = block.get("image_url")
    url: Any = cast("Mapping[str, Any]", inner).get("url") if isinstance(inner, Mapping) else inner
    if isinstance(url, str) and url.startswith("data:"):
        head, _, encoded = url.partition(";base64,")
        return encoded or None, head.removeprefix("data:") or kind
    data = block.get("base64") or block.get("data")
    return (data, kind) if isinstance(data, str) else (None, kind)
