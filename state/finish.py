"""Why a model stopped: the words of providers, read in one way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, cast

from langchain_core.messages import AIMessage

Finish = Literal["length", "content_filter"]
"""The two ways in which a reply can stop short."""

_REASON_KEYS = ("finish_reason", "stop_reason", "stopReason", "finishReason", "done_reason")

_LENGTH = frozenset(
    {
        "incomplete",
        "length",
        "max_length",
        "max_output_tokens",
        "max_tokens",
        "model_context_window_exceeded",
        "model_length",
    }
)
_CONTENT_FILTER = frozenset(
    {
        "blocklist",
        "content_filter",
        "content_filtered",
        "error_toxic",
        "guardrail_intervened",
        "image_prohibited_content",
        "image_safety",
        "prohibited_content",
        "recitation",
        "refusal",
        "safety",
        "spii",
    }
)


def finish_reason(message: AIMessage) -> str | None:
    """Give the provider's word for why the model stopped, in lower case, or None.

    Source: API references of OpenAI (``finish_reason``, ``status``), Anthropic (``stop_reason``),
    Google (``finishReason``), Amazon Bedrock (``stopReason``), Mistral, Cohere, Ollama
    (``done_reason``), 2026.
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
    blocked = told.get("prompt_feedback")
    if isinstance(blocked, Mapping) and cast("Mapping[str, Any]", blocked).get("block_reason"):
        # Google answers a prompt that it blocks without any candidate.
        return "content_filter"
    return None


def finish_of(message: AIMessage) -> Finish | None:
    """Tell whether a reply stopped short, and how; None if it ended by itself."""
    reason = finish_reason(message)
    if reason in _LENGTH:
        return "length"
    return "content_filter" if reason in _CONTENT_FILTER else None


def refusal_text(message: AIMessage) -> str | None:
    """Give the words with which a model declined, where the provider marks them as such.

    Returns:
        The words, empty if there are none; None for a reply that is marked as no refusal.
    """
    text = message.additional_kwargs.get("refusal")
    if text:
        return str(text)
    if isinstance(message.content, list):
        for block in message.content:
            if isinstance(block, dict) and block.get("type") == "refusal":
                return str(block.get("refusal") or "")
    return None
