"""A conversation as plain text, for a model that is to summarize it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from ..cut_points import is_summary

_ROLES = {"human": "user", "ai": "assistant"}
_DETAILS = ("filename", "name", "title", "mime_type", "url", "file_id", "id")
_DETAIL_CHARS = 300


def transcript(messages: Sequence[BaseMessage]) -> str:
    """The conversation, a line or more for each message, calls and results with their ids.

    Images and files are named, not shown; reasoning is left out.
    """
    return "\n".join(line for message in messages for line in _lines(message))


def _lines(message: BaseMessage) -> Iterator[str]:
    text = _content(message.content)
    if is_summary(message):
        yield f"[conversation_summary] {text}"
        return
    if isinstance(message, ToolMessage):
        failed = " (error)" if message.status == "error" else ""
        yield f"[result of {message.name or 'tool'} id={message.tool_call_id}{failed}] {text}"
        return
    role = _ROLES.get(message.type, message.type)
    if text or not isinstance(message, AIMessage) or not message.tool_calls:
        yield f"[{role}] {text}"
    if isinstance(message, AIMessage):
        for call in message.tool_calls:
            arguments = json.dumps(call["args"], ensure_ascii=False, default=str)
            yield f"[{role} calls {call['name']} id={call['id']}] {arguments}"


def _content(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(map(_block, cast("list[Any]", content)))


def _block(block: Any) -> str:
    if not isinstance(block, Mapping):
        return str(block)
    values = cast("Mapping[str, Any]", block)
    kind = str(values.get("type", "content"))
    if isinstance(text := values.get("text"), str):
        return text
    if kind in {"reasoning", "thinking", "redacted_thinking", "tool_use", "tool_call"}:
        return ""
    inner: Any = values.get(kind)
    sources = [values, cast("Mapping[str, Any]", inner)] if isinstance(inner, Mapping) else [values]
    found: list[Any] = [source.get(key) for key in _DETAILS for source in sources]
    details = [v[:_DETAIL_CHARS] for v in found if isinstance(v, str) and not v.startswith("data:")]
    return f"<{', '.join(filter(None, [kind, *dict.fromkeys(details)]))}>"
