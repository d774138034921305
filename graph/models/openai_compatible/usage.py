"""Token counts, from the several shapes providers report them in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.messages.ai import InputTokenDetails, OutputTokenDetails, UsageMetadata

from .json_value import as_object


def read_usage(usage: object) -> UsageMetadata | None:
    """Return langchain-core's token counts, or None where the provider sent none.

    Args:
        usage: The ``usage`` object of an answer or of the last chunk of a stream.
    """
    counts = as_object(usage)
    if not counts:
        return None
    input_tokens = _count(counts, "prompt_tokens", "input_tokens")
    output_tokens = _count(counts, "completion_tokens", "output_tokens")
    if input_tokens is None and output_tokens is None:
        return None
    total = _count(counts, "total_tokens")
    metadata = UsageMetadata(
        input_tokens=input_tokens or 0,
        output_tokens=output_tokens or 0,
        total_tokens=(input_tokens or 0) + (output_tokens or 0) if total is None else total,
    )
    if input_details := _input_details(counts):
        metadata["input_token_details"] = input_details
    if output_details := _output_details(counts):
        metadata["output_token_details"] = output_details
    return metadata


def _input_details(counts: Mapping[str, Any]) -> InputTokenDetails:
    given = _inner(counts, "prompt_tokens_details", "input_tokens_details")
    details = InputTokenDetails()
    cached = _count(given, "cached_tokens")
    if cached is None:
        # DeepSeek and Moonshot report the cache beside the totals.
        cached = _count(counts, "prompt_cache_hit_tokens", "cached_tokens")
    if cached is not None:
        details["cache_read"] = cached
    written = _count(given, "cache_write_tokens", "cache_creation_tokens")
    if written is not None:
        details["cache_creation"] = written
    audio = _count(given, "audio_tokens")
    if audio is not None:
        details["audio"] = audio
    return details


def _output_details(counts: Mapping[str, Any]) -> OutputTokenDetails:
    given = _inner(counts, "completion_tokens_details", "output_tokens_details")
    details = OutputTokenDetails()
    reasoning = _count(given, "reasoning_tokens")
    if reasoning is None:
        reasoning = _count(counts, "reasoning_tokens")
    if reasoning is not None:
        details["reasoning"] = reasoning
    audio = _count(given, "audio_tokens")
    if audio is not None:
        details["audio"] = audio
    return details


def _inner(counts: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    for name in names:
        inner = as_object(counts.get(name))
        if inner is not None:
            return inner
    return {}


def _count(counts: Mapping[str, Any], *names: str) -> int | None:
    for name in names:
        value = counts.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
        if isinstance(value, float) and value >= 0 and value.is_integer():
            return int(value)
    return None
