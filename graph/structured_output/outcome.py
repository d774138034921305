"""What one reply of a model can mean for the structured answer that is due."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import HumanMessage, ToolMessage, add_notification_metadata

from ...state.errors import StructuredOutputError
from .answers import Answer, Reply
from .retry import (
    FAILED_REASON,
    failure_text,
    final_error,
    instruction,
    next_move,
)
from .schema import SchemaSpec
from .strategies import ProviderStrategy, ToolStrategy

NUDGE_SOURCE = "interlock.structured_output"
"""Marks messages that ask for an answer again, under ``additional_kwargs["lc_source"]``."""


@dataclass(frozen=True)
class NotDue:
    """The reply asks for ordinary tools: no answer yet."""


@dataclass(frozen=True)
class Answered:
    """The reply holds a valid answer."""

    value: Any
    """The user's object."""
    messages: tuple[ToolMessage, ...] = ()
    """Results to put behind the reply."""
    data: Any = field(default=None, compare=False)
    """The model's own JSON value, from which the same object can be made again."""
    schema_name: str = field(default="", compare=False)
    """Name of the schema that the value fits."""


@dataclass(frozen=True)
class AskAgain:
    """The reply holds no valid answer, and another attempt is left."""

    messages: tuple[ToolMessage | HumanMessage, ...]
    """What to put behind the reply: error results for its output calls, or, where it has none, a
    ``HumanMessage`` that is marked as not the user's. (A tool message needs a call, and not every
    provider takes a system message in the middle of a conversation.)"""
    failures: tuple[str, ...]
    """Why each attempt so far was refused: hand it to the next reading of the same run."""
    error: StructuredOutputError
    """What is wrong."""


@dataclass(frozen=True)
class Failed:
    """The reply holds no valid answer, and none will be asked for."""

    error: StructuredOutputError
    """Raise this where ``exit_reason`` is None."""
    exit_reason: str | None
    """Reason to end the run with, where the strategy says ``on_failure="reason"``."""
    messages: tuple[ToolMessage, ...]
    """Error results to put behind the reply, so that the thread stays valid."""
    failures: tuple[str, ...]
    """Why each attempt was refused, oldest first."""


Outcome = Answered | AskAgain | Failed | NotDue


def accepted(
    answer: Answer, reply: Reply, strategy: ToolStrategy[Any] | ProviderStrategy[Any]
) -> Answered:
    """Give the outcome of a valid answer."""
    results: tuple[ToolMessage, ...] = ()
    if reply.calls:
        text = strategy.tool_message_content if isinstance(strategy, ToolStrategy) else None
        if text is None:
            text = f"Returning structured response: {answer.value}"
        results = tuple(
            ToolMessage(text, tool_call_id=call.id, name=call.name)
            for call in reply.calls
            if call.id
        )
    return Answered(answer.value, results, answer.data, answer.schema_name)


def refused(
    error: StructuredOutputError,
    reply: Reply,
    strategy: ToolStrategy[Any] | ProviderStrategy[Any],
    specs: Sequence[SchemaSpec[Any]],
    failures: Sequence[str],
) -> AskAgain | Failed:
    """Give the outcome of a wrong or missing answer.

    Args:
        error: What is wrong.
        reply: The reply.
        strategy: The strategy in force.
        specs: The schemas that are accepted.
        failures: Why the attempts before this one were refused.
    """
    all_failures = (*failures, failure_text(error))
    handle_errors = strategy.handle_errors if isinstance(strategy, ToolStrategy) else True
    move = next_move(error, handle_errors, len(all_failures), strategy.max_retries)
    if move == "ask_again":
        text = instruction(error, strategy, specs)
        nudge = add_notification_metadata(HumanMessage(text), source=NUDGE_SOURCE)
        return AskAgain(_error_results(reply, text) or (nudge,), all_failures, error)
    final = error
    if move == "give_up":
        names = [spec.title for spec in specs]
        final = final_error(error, names, reply.text, all_failures)
    reason = FAILED_REASON if strategy.on_failure == "reason" else None
    return Failed(final, reason, _error_results(reply, failure_text(error)), all_failures)


def _error_results(reply: Reply, text: str) -> tuple[ToolMessage, ...]:
    return tuple(
        ToolMessage(text, tool_call_id=call.id, name=call.name, status="error")
        for call in reply.calls
        if call.id
    )
