"""What the finish reason of an answer says about its tool calls."""

from __future__ import annotations

from typing import Final

_WHOLE: Final = frozenset(
    {
        "complete",
        "completed",
        "done",
        "end_turn",
        "eos",
        "eos_token",
        "finish",
        "finished",
        "function_call",
        "function_calls",
        "stop",
        "stop_sequence",
        "tool_call",
        "tool_calls",
        "tool_use",
    }
)

_CAUSES: Final = {
    "content_filter": "cut off by the content filter",
    "length": "cut off by the length limit",
    "max_output_tokens": "cut off by the length limit",
    "max_tokens": "cut off by the length limit",
    "model_length": "cut off by the model's context limit",
}


def cut_off_by(finish_reason: str | None) -> str | None:
    """Return why calls of the answer may not run, in words for the model, or None.

    Only a reason known to mean a whole answer lets calls run: a reason nobody heard of may
    mean that half of a call is missing.

    Args:
        finish_reason: The provider's word, or None where a whole message came without one.
    """
    if not finish_reason:
        return None
    reason = finish_reason.lower().replace("-", "_")
    if reason in _WHOLE:
        return None
    cause = _CAUSES.get(reason, f"ended by {finish_reason[:40]!r}")
    return f"The answer was {cause}, so this call did not run. Make it again."
