"""A note before the result of a call, so that the model knows what was run in its name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from langchain_core.messages import ToolMessage
from langgraph.types import Command


def annotate(result: Any, note: str | None, call_id: str) -> Any:
    """A tool's result with ``note`` before the answer to the call.

    Args:
        result: What the call returned: a message, a ``Command`` whose update holds one, or a list
            of both.
        note: The text; None changes nothing.
        call_id: Id of the call; other messages are left alone.
    """
    if not note:
        return result
    if isinstance(result, ToolMessage):
        return with_note(result, note) if result.tool_call_id == call_id else result
    if isinstance(result, list):
        return [annotate(r, note, call_id) for r in cast("list[Any]", result)]
    if not isinstance(result, Command):
        return result
    command = cast("Command[Any]", result)
    update: Any = command.update
    if not isinstance(update, Mapping) or not isinstance(cast("Any", update).get("messages"), list):
        return command
    values = dict(cast("Mapping[str, Any]", update))
    values["messages"] = [annotate(m, note, call_id) for m in values["messages"]]
    return replace(command, update=values)


def with_note(message: ToolMessage, note: str) -> ToolMessage:
    """The message with ``note`` before its content, once however often it is asked for."""
    content: Any = message.content
    full = f"{note}\n\nTool response:" if content else note
    if isinstance(content, str):
        if content == note or content.startswith(full):
            return message
        return message.model_copy(update={"content": f"{full}\n{content}" if content else full})
    blocks = cast("list[Any]", content)
    first = blocks[0] if blocks else None
    if (cast("Any", first).get("text") if isinstance(first, dict) else first) in (note, full):
        return message
    texts = bool(blocks) and all(isinstance(b, str) for b in blocks)
    block: Any = full if texts else {"type": "text", "text": full}
    return message.model_copy(update={"content": [block, *blocks]})
