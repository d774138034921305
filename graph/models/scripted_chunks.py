"""How a whole reply looks when it is streamed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import count
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.messages.tool import ToolCallChunk, tool_call_chunk

_WORD = re.compile(r"\s*\S+|\s+$")
_PIECE = 24
"""Characters of arguments in one chunk: few enough that ordinary calls come in pieces."""


def chunks_of(message: AIMessage) -> Iterator[AIMessageChunk]:
    """Return the chunks whose sum is a message, as providers cut them.

    Text comes word by word, a content block whole (so that the sum has the blocks of the message),
    a tool call as its name and then its arguments in pieces, and what is known only at the end,
    usage and metadata, with the last chunk, which may be empty otherwise.
    """
    for content in _contents(message.content):
        yield AIMessageChunk(content=content, id=message.id)
    empty: str | list[str | dict[str, Any]] = "" if isinstance(message.content, str) else []
    for part in _call_parts(message):
        yield AIMessageChunk(content=empty, tool_call_chunks=[part], id=message.id)
    yield AIMessageChunk(
        content=empty,
        additional_kwargs=message.additional_kwargs,
        response_metadata=message.response_metadata,
        usage_metadata=message.usage_metadata,
        id=message.id,
        chunk_position="last",
    )


def _contents(content: str | list[Any]) -> Iterator[str | list[Any]]:
    if isinstance(content, str):
        yield from _WORD.findall(content)
    else:
        yield from ([block] for block in content)


def _call_parts(message: AIMessage) -> Iterator[ToolCallChunk]:
    index = count()
    for call in message.tool_calls:
        arguments = json.dumps(call["args"], ensure_ascii=False)
        yield from _parts(call["name"], call["id"], arguments, next(index))
    for broken in message.invalid_tool_calls:
        yield from _parts(broken["name"], broken["id"], broken["args"] or "", next(index))


def _parts(
    name: str | None, ident: str | None, arguments: str, index: int
) -> Iterator[ToolCallChunk]:
    yield tool_call_chunk(name=name, id=ident, args="", index=index)
    for start in range(0, len(arguments), _PIECE):
        yield tool_call_chunk(args=arguments[start : start + _PIECE], index=index)
