"""All text of a message that somebody may read: what guardrails show to detectors and classifiers.

Text stands not only in blocks of text. A document, a search result and a plain-text file hold it
too, and so do a model's thinking and a refusal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage

from ..state.guardrail_errors import DetectorError
from .redaction.keys import BINARY_KEYS, CALL_BLOCKS, STRUCTURAL_KEYS, is_data_url, is_spared

_UNSAID = STRUCTURAL_KEYS - {"name"}
"""Keys of blocks whose values, if they are single words, nobody reads as text."""

_DATA_BLOCKS = frozenset({"json", "non_standard"})
"""Blocks of a tool's own data: whatever a value is called there, it may be read."""

_CALLS = frozenset({"function_call", "tool_call_extras", "tool_calls"})
"""What of ``additional_kwargs`` belongs to calls."""

_DEEPEST = 100


def text_of(message: BaseMessage) -> str:
    """Everything that is said in a message, as one text.

    Its text first, as in ``message.text``; behind it, in paragraphs, what blocks of other kinds
    say. Of a reply also what stands beside the content, such as thinking and a refusal. Left out
    are the calls of a reply, binary data, and ids and other names that nobody reads.

    Raises:
        DetectorError: A block is nested too deeply to be searched.
    """
    content: Any = message.content
    is_reply = isinstance(message, AIMessage)
    beside = message.additional_kwargs if is_reply else None
    if type(content) is str and not beside:
        return content
    parts = [str(message.text)]
    for block in cast("list[Any]", content) if isinstance(content, list) else ():
        if isinstance(block, Mapping):
            fields = cast("Mapping[str, Any]", block)
            if not (is_reply and fields.get("type") in CALL_BLOCKS):
                parts += _texts(_besides_text(fields))
    for key, value in (beside or {}).items():
        if key not in _CALLS and "signature" not in key:
            parts += _texts(value)
    return "\n\n".join(part for part in parts if part)


def _besides_text(block: Mapping[str, Any]) -> Mapping[str, Any]:
    """A block without what ``message.text`` holds of it."""
    if block.get("type") != "text":
        return block
    return {key: value for key, value in block.items() if key != "text"}


def _texts(value: Any, depth: int = 0, *, is_data: bool = False) -> Iterator[str]:
    """The texts of a value, in order; of data all, of blocks without their names and numbers."""
    if isinstance(value, str):
        if not is_data_url(value):
            yield value
        return
    if not isinstance(value, (Mapping, list, tuple)):
        return
    if depth > _DEEPEST:
        msg = f"A block is nested deeper than {_DEEPEST} levels and cannot be searched; flatten it."
        raise DetectorError(msg)
    if not isinstance(value, Mapping):
        for item in cast("list[Any]", value):
            yield from _texts(item, depth + 1, is_data=is_data)
        return
    fields = cast("Mapping[Any, Any]", value)
    holds_data = is_data or fields.get("type") in _DATA_BLOCKS
    for key, item in fields.items():
        if isinstance(item, str) and _is_unsaid(key, item, fields, is_data=is_data):
            continue
        if isinstance(key, str) and not key.isidentifier():
            yield key
        yield from _texts(item, depth + 1, is_data=holds_data)


def _is_unsaid(key: Any, text: str, fields: Mapping[Any, Any], *, is_data: bool) -> bool:
    """Whether a text of a block is binary data, or a name that nobody reads."""
    if key in BINARY_KEYS:
        # The data of a source of text is the text.
        fixed = frozenset[str]() if is_data else _UNSAID
        return fields.get("type") != "text" and is_spared(key, text, frozenset(), fixed)
    return key in _UNSAID and not is_data and len(text.split()) <= 1
