"""The streamed message chunk whose sum never runs half a call.

langchain-core's own chunk completes cut-off JSON with a parser meant for display and puts the
guess into ``tool_calls``. This one leaves ``tool_calls`` empty until the last chunk, which
carries what the assembler decided with strict parsing; ``tool_call_chunks`` still show the
arguments as they grow.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final, Self, cast

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessageChunk
from langchain_core.messages import content as blocks
from langchain_core.messages.ai import add_ai_message_chunks
from langchain_core.messages.tool import ToolCallChunk, tool_call_chunk
from pydantic import model_validator
from typing_extensions import override

_CALL_BLOCKS = frozenset({"tool_call", "invalid_tool_call", "tool_call_chunk"})


class _BecomesMessage:
    """Makes a plain ``AIMessage`` when called by itself.

    ``message_chunk_to_message`` calls the class that follows the chunk's own in its method
    resolution order (langchain-core 1.8.3); for a subclass of ``AIMessageChunk`` that would be
    the chunk class again, and the chunk would stay one in the thread.
    """

    def __new__(cls, *_args: Any, **fields: Any) -> Self:
        if cls is _BecomesMessage:
            return cast("Self", AIMessage(**fields))
        return super().__new__(cls)


class AnswerChunk(_BecomesMessage, AIMessageChunk):
    """A piece of a streamed answer; pieces add up with ``+`` as usual.

    ``tool_calls`` and ``invalid_tool_calls`` are empty before the last piece
    (``chunk_position == "last"``) is added, and final afterwards.
    """

    @property
    @override
    def content_blocks(self) -> list[blocks.ContentBlock]:
        """The content of this piece as langchain-core's standard blocks."""
        if self.response_metadata.get("output_version") == "v1" and isinstance(self.content, list):
            return cast("list[blocks.ContentBlock]", self.content)
        found: list[blocks.ContentBlock] = []
        reasoning = self.additional_kwargs.get("reasoning_content")
        if isinstance(reasoning, str) and reasoning:
            found.append({"type": "reasoning", "reasoning": reasoning})
        if isinstance(self.content, list):
            found += [b for b in super(AIMessage, self).content_blocks if not _is_call(b)]
        elif self.content:
            found.append({"type": "text", "text": self.content})
        if self.chunk_position == "last":
            found += _decided_blocks(self)
            if refusal := self.additional_kwargs.get("refusal"):
                found.append(cast("blocks.ContentBlock", {"type": "refusal", "refusal": refusal}))
        else:
            found += [cast("blocks.ToolCallChunk", dict(c)) for c in self.tool_call_chunks]
        return found

    @model_validator(mode="after")
    @override
    def init_tool_calls(self) -> Self:
        """Keep what the last piece decided; guess nothing before it."""
        if self.chunk_position != "last":
            self.tool_calls = []
            self.invalid_tool_calls = []
        return self

    @override
    def __add__(self, other: Any) -> BaseMessageChunk:  # type: ignore[override]  # the base has overloads
        if isinstance(other, AIMessageChunk):
            return _join([self, other])
        pieces = cast("Sequence[object]", other) if isinstance(other, (list, tuple)) else ()
        chunks = [piece for piece in pieces if isinstance(piece, AIMessageChunk)]
        if pieces and len(chunks) == len(pieces):
            return _join([self, *chunks])
        added: BaseMessageChunk = super().__add__(cast("Any", other))
        return added

    def __radd__(self, other: object) -> BaseMessageChunk:
        # Python asks the subclass first, so a plain chunk on the left gets here too.
        if isinstance(other, AIMessageChunk):
            return _join([other, self])
        return NotImplemented


def delta_chunk(
    content: str | list[str | dict[Any, Any]],
    beside: dict[str, Any] | None = None,
    calls: list[ToolCallChunk] | None = None,
) -> AnswerChunk:
    """Return a piece made of parts that were read with care: validating it would cost more.

    Args:
        content: Text, or content blocks.
        beside: What goes into ``additional_kwargs``; the chunk keeps it.
        calls: Fragments of tool calls; the chunk keeps them.
    """
    chunk = AnswerChunk.__new__(AnswerChunk)
    fields: dict[str, Any] = {
        **_UNSET,
        "content": content,
        "additional_kwargs": {} if beside is None else beside,
        "response_metadata": {},
        "tool_calls": [],
        "invalid_tool_calls": [],
        "tool_call_chunks": [] if calls is None else calls,
    }
    chunk.__setstate__(
        {
            "__dict__": fields,
            "__pydantic_fields_set__": set(_SET_BY_A_DELTA),
            "__pydantic_extra__": {},
            "__pydantic_private__": None,
        }
    )
    return chunk


_UNSET: Final = {**AnswerChunk(content="").__dict__}
_SET_BY_A_DELTA: Final = frozenset(
    {"content", "additional_kwargs", "tool_calls", "invalid_tool_calls", "tool_call_chunks"}
)


def _join(chunks: Sequence[AIMessageChunk]) -> AnswerChunk:
    decided = [c for c in chunks if isinstance(c, AnswerChunk) and c.chunk_position == "last"]
    first, *others = [_mergeable(c) for c in chunks]
    joined = cast("AnswerChunk", add_ai_message_chunks(first, *others))
    if not decided:
        joined.chunk_position = None
        return joined
    joined.chunk_position = "last"
    joined.tool_calls = [call for c in decided for call in c.tool_calls]
    joined.invalid_tool_calls = [call for c in decided for call in c.invalid_tool_calls]
    # A copy that goes through the plain chunk class parses these once more; only whole calls
    # may be left to parse.
    joined.tool_call_chunks = [
        tool_call_chunk(name=c["name"], args=json.dumps(c["args"]), id=c["id"])
        for c in joined.tool_calls
    ]
    if isinstance(joined.content, list):
        kept = [b for b in joined.content if isinstance(b, str) or not _is_call(b)]
        joined.content = kept + [cast("dict[Any, Any]", b) for b in _decided_blocks(joined)]
    return joined


def _mergeable(chunk: AIMessageChunk) -> AnswerChunk:
    """Return the chunk as one whose content blocks merge: decided calls are added afterwards."""
    content = chunk.content
    if isinstance(content, list) and chunk.chunk_position == "last":
        content = [b for b in content if isinstance(b, str) or not _is_call(b)]
    elif isinstance(chunk, AnswerChunk):
        return chunk
    return AnswerChunk(
        content=content,
        additional_kwargs=chunk.additional_kwargs,
        response_metadata=chunk.response_metadata,
        tool_call_chunks=chunk.tool_call_chunks,
        usage_metadata=chunk.usage_metadata,
        id=chunk.id,
        chunk_position=chunk.chunk_position,
    )


def _is_call(block: Any) -> bool:
    kind = block.get("type")
    return isinstance(kind, str) and kind in _CALL_BLOCKS


def _decided_blocks(chunk: AIMessageChunk) -> list[blocks.ContentBlock]:
    """Return the decided calls as blocks, with the index their growing chunks had."""
    index = {c["id"]: c["index"] for c in chunk.tool_call_chunks if c["index"] is not None}
    found: list[dict[str, Any]] = [
        {"type": "tool_call", "id": call["id"], "name": call["name"], "args": call["args"]}
        for call in chunk.tool_calls
    ]
    found += [dict(broken) for broken in chunk.invalid_tool_calls]
    for block in found:
        if block["id"] in index:
            block["index"] = index[block["id"]]
    return cast("list[blocks.ContentBlock]", found)
