"""The engine's answer as a message. The engine writes no text, so text is made of what there is."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, Final

from langchain_core.messages import AIMessage, ToolCall

from .conversation import Conversation, Result
from .decision import Decision

_DECLINED: Final = "None of the tools fits this request."


def reply(
    conversation: Conversation,
    decision: Decision | None,
    *,
    model_name: str,
    one_call: bool = False,
) -> AIMessage:
    """Return the message a caller gets.

    Without calls its text is the results of this turn, or else the engine's own words on why
    nothing was called.

    Args:
        conversation: What the engine was told.
        decision: What became of its answer, or None if it was not asked.
        model_name: What to call the model.
        one_call: Make no more than the first call.
    """
    metadata: dict[str, Any] = {"model_name": model_name, "finish_reason": "stop"}
    said = ""
    if decision is not None:
        said = decision.answer.reasoning
        metadata |= {"confidence": decision.answer.confidence, "reasoning": said}
        if decision.withheld:
            withheld = [{"name": call.name, "args": call.arguments} for call in decision.withheld]
            metadata |= {"withheld_calls": withheld, "withheld_because": list(decision.reasons)}
        if decision.calls:
            metadata["finish_reason"] = "tool_calls"
            calls = decision.calls[:1] if one_call else decision.calls
            made = [ToolCall(name=c.name, args=c.arguments, id=_call_id()) for c in calls]
            return AIMessage("", tool_calls=made, response_metadata=metadata)
    text = rendered(conversation.turn.results) or said or _DECLINED
    return AIMessage(text, response_metadata=metadata)


def rendered(results: Sequence[Result]) -> str:
    """Return results as text: one as it is, several with the names of their tools.

    Args:
        results: The results of a turn.
    """
    if len(results) == 1:
        return results[0].text
    return "\n".join(f"{result.name}: {result.text}" for result in results)


def _call_id() -> str:
    return f"call_{uuid.uuid4().hex[:24]}"
