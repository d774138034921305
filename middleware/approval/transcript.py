"""A model's message with the arguments that were really run, in every place a call is written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from langchain_core.messages import AIMessage

from .decision import Action

_ARGUMENT_KEYS = ("input", "args", "arguments")
"""Where content blocks of providers keep the arguments of a call."""


def rewrite_calls(reply: AIMessage, edits: Mapping[str, Action]) -> AIMessage:
    """The message, the same id, its calls replaced by what was decided.

    Args:
        reply: The message. Not changed.
        edits: The new tool and arguments by call id.
    """
    calls = [
        {**c, **edits[cast("str", c["id"])]} if c["id"] in edits else c for c in reply.tool_calls
    ]
    content: Any = reply.content
    if isinstance(content, list):
        content = [_block(b, edits) for b in cast("list[Any]", content)]
    # The provider's raw copy of the calls would contradict the rewritten ones.
    extra = {k: v for k, v in reply.additional_kwargs.items() if k != "tool_calls"}
    update = {"tool_calls": calls, "content": content, "additional_kwargs": extra}
    return reply.model_copy(update=update)


def _block(block: Any, edits: Mapping[str, Action]) -> Any:
    """A content block; one that is an edited call, with the new arguments in the old notation."""
    if not isinstance(block, dict):
        return block
    fields = cast("dict[str, Any]", block)
    ident = next((fields[k] for k in ("call_id", "id") if fields.get(k) in edits), None)
    if ident is None or "name" not in fields:
        return fields
    action = edits[ident]
    changed = {**fields, "name": action["name"]}
    for key in _ARGUMENT_KEYS:
        if key in fields:
            text = isinstance(fields[key], str)
            changed[key] = json.dumps(action["args"]) if text else action["args"]
    return changed
