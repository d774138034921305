"""Whether a reply is whole, as far as a structured answer goes."""

from __future__ import annotations

from typing import Literal

from langchain_core.messages import AIMessage

from ...state.finish import finish_of, refusal_text

Ending = Literal["complete", "cut_off", "refused"]


def ending(message: AIMessage) -> Ending:
    """Tell whether a reply was finished, cut off at a limit, or declined."""
    finish = finish_of(message)
    if finish == "content_filter" or refusal_text(message) is not None:
        return "refused"
    return "cut_off" if finish == "length" else "complete"


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
