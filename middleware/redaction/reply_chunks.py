"""Chunks of a reply put together and taken apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from operator import add
from typing import Any, cast

from langchain_core.messages import AIMessage, AIMessageChunk


def flat(contents: Iterable[Any]) -> list[Any]:
    """Contents, each a text or a list of blocks, as one list."""
    lists = (cast("list[Any]", c) if isinstance(c, list) else [c] for c in contents)
    return [block for blocks in lists for block in blocks]


def together(extra: list[dict[str, Any]]) -> dict[str, Any]:
    """Several pieces of additional fields as one."""
    chunks = [cast("Any", AIMessageChunk(content="", additional_kwargs=piece)) for piece in extra]
    return reduce(add, chunks).additional_kwargs if chunks else {}


def apart(message: AIMessageChunk, fields: dict[str, Any]) -> list[AIMessageChunk]:
    """A chunk in as many as langchain-core needs to tell the arguments of its calls.

    Its typed events lose those that come in one chunk with a text, or in the last one.
    """
    whole, calls = _copy(message, fields), fields["tool_call_chunks"]
    if not calls or not isinstance(whole.content, str):
        return [whole]
    chunks = [whole]
    if whole.content:
        chunks = [
            _copy(message, {**fields, "tool_call_chunks": []}),
            AIMessageChunk(content="", id=message.id, tool_call_chunks=calls),
        ]
    if message.chunk_position == "last":
        chunks[0].chunk_position = None
        chunks.append(AIMessageChunk(content="", id=message.id, chunk_position="last"))
    return chunks


def _copy(message: AIMessageChunk, fields: dict[str, Any]) -> AIMessageChunk:
    metadata = {k: v for k, v in message.response_metadata.items() if k != "logprobs"}
    copy = AIMessageChunk(
        **fields,
        id=message.id,
        name=message.name,
        response_metadata=metadata,
        usage_metadata=message.usage_metadata,
    )
    copy.chunk_position = message.chunk_position
    return copy


def merged(fields: dict[str, Any], rest: dict[str, Any]) -> dict[str, Any]:
    """Fields of two chunks as those of one."""
    one, other = (cast("AIMessage", AIMessageChunk(**f)) for f in (fields, rest))
    whole = cast("AIMessageChunk", cast("Any", one) + other)
    return {
        "content": whole.content,
        "tool_call_chunks": whole.tool_call_chunks,
        "additional_kwargs": whole.additional_kwargs,
    }


def says_something(fields: Mapping[str, Any], message: AIMessageChunk) -> bool:
    """Whether a chunk of these fields is worth giving out."""
    return bool(
        fields["content"]
        or fields["tool_call_chunks"]
        or fields["additional_kwargs"]
        or message.usage_metadata
        or message.response_metadata
    )
