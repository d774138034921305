"""Whether a reply is whole: what providers say about why the model stopped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, cast

from langchain_core.messages import AIMessage

Ending = Literal["complete", "cut_off", "refused"]

_REASON_KEYS = ("finish_reason", "stop_reason", "stopReason", "finishReason", "done_reason")

_CUT_OFF = frozenset(
    (
        "incomplete",
        "length",
        "max_length",
        "max_output_tokens",
        "max_tokens",
        "model_context_window_exceeded",
        "model_length",
    )
)
_REFUSED = frozenset(
    (
        "blocklist",
        "content_filter",
        "content_filtered",
        "guardrail_intervened",
        "prohibited_content",
        "recitation",
        "refusal",
        "safety",
        "spii",
    )
)


def finish_reason(message: AIMessage) -> str | None:
    """Give the provider's word for why the model stopped, in lower case, or None.

    Source: API references of OpenAI (``finish_reason``, ``status``), Anthropic (``stop_reason``),
    Google (``finishReason``), Amazon Bedrock (``stopReason``), Mistral, Ollama (``done_reason``),
    2026.
    """
    told = message.response_metadata
    for key in _REASON_KEYS:
        if told.get(key):
            # Google's client gives an enum, whose text is FinishReason.MAX_TOKENS.
            return str(getattr(told[key], "name", told[key])).rpartition(".")[2].lower()
    if told.get("status") == "incomplete":
        details = told.get("incomplete_details")
        reason = cast("Mapping[str, Any]", details).get("reason") if details else None
        return str(reason or "incomplete").lower()
    return None


def ending(message: AIMessage) -> Ending:
    """Tell whether a reply was finished, cut off at a limit, or declined."""
    reason = finish_reason(message)
    if reason in _REFUSED or refusal_text(message) is not None:
        return "refused"
    return "cut_off" if reason in _CUT_OFF else "complete"


def refusal_text(message: AIMessage) -> str | None:
    """Give the words with which a model declined, where the provider marks them as such."""
    text = message.additional_kwargs.get("refusal")
    if text:
        return str(text)
    if isinstance(message.content, list):
        for block in message.content:
            if isinstance(block, dict) and block.get("type") == "refusal":
                return str(block.get("refusal") or "")
    return None


def reply_text(message: AIMessage) -> str:
    """Give the text of a reply, its thinking left out."""
    if isinstance(message.content, str):
        return message.content
    parts: list[str] = []
    for block in message.content:
        if isinstance(block, str):
            parts.append(block)
        elif block.get("type") == "text":
            parts.append(str(block.get("text") or ""))
        elif "type" not in block and isinstance(block.get("content"), str):
            parts.append(block["content"])
    return "".join(parts)
