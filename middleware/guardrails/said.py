"""What a reply of a model says, part by part, and the reply with a part of it changed.

Parts are the text of each message, and the structured answer that a model gives in the arguments
of a call, as JSON. Calls of tools that are still to be run are no parts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, is_dataclass
from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from pydantic import BaseModel, TypeAdapter

from ...state.history import answered_ids
from ..request import ModelResponse

_CHANGED = "The answer was changed by a guardrail."
"""What the result of a changed answer's call says."""


@dataclass(frozen=True)
class Part:
    """One thing that a reply says."""

    message: int
    """Position of its message in the response."""
    text: str
    call: str | None = None
    """Id of the call, for a structured answer in arguments."""


def parts(response: ModelResponse[Any]) -> Iterator[Part]:
    """What a response says, in order; a call whose result is there already was for an answer."""
    answered = answered_ids(response.result)
    for position, message in enumerate(response.result):
        if not isinstance(message, AIMessage):
            continue
        if message.text.strip():
            yield Part(position, message.text)
        for call in message.tool_calls:
            if call["id"] in answered:
                yield Part(position, json.dumps(call["args"], ensure_ascii=False), call["id"])


def with_part(response: ModelResponse[Any], part: Part, text: str) -> ModelResponse[Any] | None:
    """A response in which a part says something else.

    A structured answer is read again from the new text, by the class of the answer.

    Returns:
        The response; None if the new text is no valid answer, or if the answer is of no class
        that could tell: a plain dict, or a call that was no valid answer before.
    """
    reply = cast("AIMessage", response.result[part.message])
    structured: Any = response.structured_response
    if part.call is not None or (structured is not None and not _in_calls(response)):
        try:
            structured = _read(structured, text)
        except Exception:  # noqa: BLE001 - whatever is wrong with it: it is no answer
            return None
    result = list(response.result)
    if part.call is None:
        result[part.message] = reply.model_copy(update={"content": text})
        return ModelResponse(result, structured)
    calls = [
        {**call, "args": json.loads(text)} if call["id"] == part.call else call
        for call in reply.tool_calls
    ]
    result[part.message] = reply.model_copy(update={"tool_calls": calls})
    return ModelResponse([_told(m, part.call) for m in result], structured)


def _in_calls(response: ModelResponse[Any]) -> bool:
    """Whether the structured answer came by a call."""
    return any(part.call is not None for part in parts(response))


def _read(answer: Any, text: str) -> Any:
    """An answer of the same class.

    Raises:
        Exception: There is none.
    """
    kind = type(cast("object", answer))
    if not (issubclass(kind, BaseModel) or is_dataclass(kind)):
        msg = f"A {kind.__name__} does not say what would be valid."
        raise TypeError(msg)
    return TypeAdapter(kind).validate_json(text)


def _told(message: BaseMessage, call: str) -> BaseMessage:
    """The result of an answer's call without what the answer was."""
    if isinstance(message, ToolMessage) and message.tool_call_id == call:
        return message.model_copy(update={"content": _CHANGED, "artifact": None})
    return message
