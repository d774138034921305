"""Suspicious messages put before a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

from langchain_core.messages import AIMessage, BaseMessage, ToolCall, ToolMessage
from langgraph.types import interrupt
from pydantic import ConfigDict
from typing_extensions import TypedDict

from .injection_notes import CALL, MARK, withheld, without_mark
from .message_text import text_of


def suspicious(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The messages behind the last calls that wait for a decision, in order."""
    found: list[BaseMessage] = []
    for message in reversed(messages):
        # A tool may write a reply of its own behind its result.
        if isinstance(message, AIMessage) and message.tool_calls:
            break
        if message.additional_kwargs.get(MARK):
            found.append(message)
    return found[::-1]


def review(waiting: Sequence[BaseMessage]) -> dict[str, Any]:
    """Ask about suspicious messages in one interrupt, and give the update for what is said.

    Raises:
        GraphInterrupt: Nobody has answered yet.
    """
    said = interrupt(
        {
            "type": "injection_review",
            "results": [
                {
                    "tool_call_id": _call_of(m),
                    "name": m.name,
                    "reason": m.additional_kwargs[MARK],
                    "content": text_of(m),
                }
                for m in waiting
            ],
        },
        response_schema=_answer_type([_call_of(m) for m in waiting]),
    )
    return _decided(waiting, said)


def written_by(message: BaseMessage, call: ToolCall) -> str:
    """The id of the call that a message is the result of, or was written by."""
    return message.tool_call_id if isinstance(message, ToolMessage) else call["id"] or ""


def hold(held: dict[str, str], call_id: str, message: BaseMessage) -> None:
    """Keep the text of a withheld message with those of the same call."""
    text = text_of(message)
    held[call_id] = f"{held[call_id]}\n\n{text}" if call_id in held else text


def _call_of(message: BaseMessage) -> str:
    known = message.additional_kwargs.get(CALL)
    return str(known) if known else cast("ToolMessage", message).tool_call_id


def _answer_type(call_ids: Sequence[str]) -> Any:
    """A dict with a word for each call: langgraph refuses any other answer before storing it."""
    fields = dict.fromkeys(call_ids, Literal["allow", "withhold"])
    answer: Any = cast("Any", TypedDict)("InjectionReview", fields)
    answer.__pydantic_config__ = ConfigDict(extra="forbid")
    return answer


def _decided(waiting: Sequence[BaseMessage], said: Mapping[str, str]) -> dict[str, Any]:
    changed: list[BaseMessage] = []
    held: dict[str, str] = {}
    for message in waiting:
        call_id, extra = _call_of(message), message.additional_kwargs
        if said.get(call_id) == "allow":
            changed.append(message.model_copy(update={"additional_kwargs": without_mark(extra)}))
        else:
            hold(held, call_id, message)
            changed.append(withheld(message, str(extra[MARK])))
    return {"messages": changed, **({"quarantine": held} if held else {})}
