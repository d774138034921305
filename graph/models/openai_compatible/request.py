"""Messages and settings as the body of a request: a pure function of both."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)

from ....state.errors import InvalidInputError
from ....state.model_errors import ChatModelRequestError
from .content import WireContent, is_known, wire_content
from .json_value import as_object
from .surrogates import mended

_NOT_IN_A_NAME: Final = re.compile(r"[^a-zA-Z0-9_-]")
_MAX_NAME_LENGTH: Final = 64


def wire_messages(
    messages: Sequence[BaseMessage], *, echo_reasoning: bool = False
) -> list[dict[str, Any]]:
    """Return messages as the provider reads them.

    Assistant messages with neither content nor calls are left out: no provider accepts them.
    A broken call is sent, with empty arguments, where a result for it follows, so that call and
    result stay a pair.

    Args:
        messages: The history.
        echo_reasoning: Send back what the model thought; some providers demand it, most refuse.

    Raises:
        InvalidInputError: A message or block is of a type that cannot be sent.
    """
    answered = {m.tool_call_id for m in messages if isinstance(m, ToolMessage)}
    wire: list[dict[str, Any]] = []
    for position, message in enumerate(messages):
        where = f"message {position} ({message.type})"
        if isinstance(message, AIMessage):
            entry = _assistant(message, where, answered, echo_reasoning=echo_reasoning)
            if entry is None:
                continue
        elif isinstance(message, ToolMessage):
            entry = {
                "role": "tool",
                "tool_call_id": message.tool_call_id,
                "content": _tool_content(message, where),
            }
        else:
            entry = {
                "role": _role(message, where),
                "content": wire_content(_blocks(message), where),
            }
        if message.name and not isinstance(message, ToolMessage):
            entry["name"] = _NOT_IN_A_NAME.sub("_", message.name)[:_MAX_NAME_LENGTH]
        wire.append(entry)
    return wire


def encode_body(body: Mapping[str, Any], *, max_bytes: int) -> bytes:
    """Return the body as JSON; halves of surrogate pairs become U+FFFD.

    Args:
        body: The request.
        max_bytes: Longest request that is sent.

    Raises:
        ChatModelRequestError: A value is no JSON, or the request is too long.
    """
    try:
        text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (RecursionError, TypeError, ValueError) as exc:
        msg = (
            f"The request cannot be written as JSON: {exc}. "
            "Pass only JSON values in tools, settings and messages."
        )
        raise ChatModelRequestError(msg) from None
    try:
        encoded = text.encode()
    except UnicodeEncodeError:
        encoded = mended(text).encode()
    if len(encoded) > max_bytes:
        msg = (
            f"The request is too large: {len(encoded)} bytes, more than {max_bytes}. "
            "Shorten the history or raise max_request_bytes."
        )
        raise ChatModelRequestError(msg)
    return encoded


def merged_settings(*layers: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings merged key by key, later layers first in rank.

    Objects are merged in depth, ``None`` removes a key.

    Args:
        layers: From the most general to the most particular.
    """
    merged: dict[str, Any] = {}
    for layer in layers:
        for key, value in layer.items():
            if value is None:
                merged.pop(key, None)
                continue
            before, more = as_object(merged.get(key)), as_object(value)
            both = before is not None and more is not None
            merged[key] = merged_settings(before or {}, more or {}) if both else value
    return merged


def _assistant(
    message: AIMessage, where: str, answered: set[str], *, echo_reasoning: bool
) -> dict[str, Any] | None:
    calls = [
        _wire_call(call["name"], _arguments(call["args"], where), call["id"])
        for call in message.tool_calls
    ]
    calls += [
        _wire_call(call["name"] or "unknown", "{}", call["id"])
        for call in message.invalid_tool_calls
        if call["id"] in answered
    ]
    extras = as_object(message.additional_kwargs.get("tool_call_extras")) or {}
    for call in calls:
        if call["id"] in extras:
            call["extra_content"] = extras[call["id"]]
    # Text alone: blocks of an answer belong to the provider that gave it.
    content = str(message.text)
    refusal = message.additional_kwargs.get("refusal")
    if not content and not calls and not refusal:
        return None
    entry: dict[str, Any] = {"role": "assistant", "content": content or None}
    if calls:
        entry["tool_calls"] = calls
    if refusal and not content:
        entry["refusal"] = refusal
    if echo_reasoning and (thoughts := message.additional_kwargs.get("reasoning_content")):
        entry["reasoning_content"] = thoughts
    return entry


def _wire_call(name: str, arguments: str, call_id: str | None) -> dict[str, Any]:
    return {
        "id": call_id,
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }


def _arguments(arguments: Mapping[str, Any], where: str) -> str:
    try:
        return json.dumps(arguments, ensure_ascii=False, allow_nan=False)
    except (RecursionError, TypeError, ValueError) as exc:
        msg = f"The arguments of a call in {where} are no JSON: {exc}. Use JSON values only."
        raise InvalidInputError(msg) from None


def _tool_content(message: ToolMessage, where: str) -> WireContent:
    blocks = _blocks(message)
    if not isinstance(blocks, str):
        # Results come from anywhere; what is no known block is still something to read.
        blocks = [b if isinstance(b, str) or is_known(b) else _as_text(b) for b in blocks]
    content = wire_content(blocks, where)
    if isinstance(content, list) and all(part["type"] == "text" for part in content):
        return "\n".join(cast("str", part["text"]) for part in content)
    return content


def _as_text(block: Mapping[str, Any]) -> str:
    return json.dumps(block, ensure_ascii=False, default=str)


def _blocks(message: BaseMessage) -> str | Sequence[str | Mapping[str, Any]]:
    # BaseMessage.content is typed with bare dicts.
    return cast("str | Sequence[str | Mapping[str, Any]]", message.content)


def _role(message: BaseMessage, where: str) -> str:
    if isinstance(message, HumanMessage):
        return "user"
    if isinstance(message, SystemMessage):
        return str(message.additional_kwargs.get("__openai_role__", "system"))
    if isinstance(message, ChatMessage):
        return message.role
    if isinstance(message, FunctionMessage):
        return "function"
    kind = "a removal" if isinstance(message, RemoveMessage) else f"of type {message.type!r}"
    msg = f"{where} is {kind} and cannot be sent to a model. Send system, human, ai and tool messages."
    raise InvalidInputError(msg)
