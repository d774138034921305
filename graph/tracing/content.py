"""What was said, as the JSON that OpenTelemetry's conventions give messages; only where asked for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolMessage

from ...state.finish import finish_reason

_ROLES = {"human": "user", "ai": "assistant"}


def messages_json(messages: Sequence[BaseMessage]) -> str:
    """Messages with their parts; system messages are told apart from them."""
    return as_json([_message(m) for m in messages if not isinstance(m, SystemMessage)])


def instructions_json(messages: Sequence[BaseMessage]) -> str | None:
    """The system messages, or None if there are none."""
    parts = [_text(m.text) for m in messages if isinstance(m, SystemMessage)]
    return as_json(parts) if parts else None


def as_json(value: Any) -> str:
    """Any value as JSON; what has no form of its own, as its text."""
    return json.dumps(value, ensure_ascii=False, default=str)


def _message(message: BaseMessage) -> dict[str, Any]:
    shown: dict[str, Any] = {"role": _ROLES.get(message.type, message.type), "parts": []}
    if isinstance(message, ToolMessage):
        response = {
            "type": "tool_call_response",
            "id": message.tool_call_id,
            "response": message.content,
        }
        return {**shown, "parts": [response]}
    if message.text:
        shown["parts"].append(_text(message.text))
    if isinstance(message, AIMessage):
        shown["parts"] += [
            {"type": "tool_call", "id": c["id"], "name": c["name"], "arguments": c["args"]}
            for c in message.tool_calls
        ]
        shown["finish_reason"] = finish_reason(message) or "stop"
    return shown


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "content": text}
