"""Which of the engine's calls are made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .answer import Answer, Call, doubts
from .conversation import Conversation
from .tool_set import EngineTool


@dataclass(frozen=True)
class Decision:
    """What becomes of an answer."""

    answer: Answer
    """The answer."""
    calls: tuple[Call, ...]
    """Calls to make."""
    withheld: tuple[Call, ...] = ()
    """Calls that the engine wrote and that are not made."""
    reasons: tuple[str, ...] = ()
    """Why."""


@dataclass(frozen=True)
class Rules:
    """When a call is not made."""

    forced: bool = False
    """Some call must be made: one in doubt is better than none."""
    strict: bool = True
    """Doubt calls that the request negates, or whose arguments are not in it."""
    min_confidence: float = 0.0
    """Doubt calls the engine is less sure of."""


def decide(
    answer: Answer, conversation: Conversation, tools: Sequence[EngineTool], rules: Rules
) -> Decision:
    """Return what becomes of an answer.

    A call that was answered in this turn is not made again: the engine would go round in circles.

    Args:
        answer: What the engine wrote.
        conversation: What it was told.
        tools: What it could call.
        rules: When a call is not made.
    """
    nullable = {tool.name: tool.nullable for tool in tools}
    written = tuple(
        _with_nulls(call, nullable.get(call.name, frozenset()))
        for call in answer.calls or answer.suppressed
    )
    if not rules.forced and written and (reasons := _reasons(answer, conversation, rules)):
        return Decision(answer, (), written, reasons)
    made = [(result.name, result.arguments) for result in conversation.turn.results]
    calls = tuple(call for call in written if (call.name, call.arguments) not in made)
    if written and not calls:
        return Decision(answer, (), written, ("it was made and answered before",))
    return Decision(answer, calls)


def _reasons(answer: Answer, conversation: Conversation, rules: Rules) -> tuple[str, ...]:
    if not answer.calls:
        return ("the engine is too unsure of it",)
    reasons = doubts(answer, conversation.told()) if rules.strict else ()
    if answer.confidence is not None and answer.confidence < rules.min_confidence:
        reasons = (*reasons, f"confidence is below {rules.min_confidence:g}")
    return reasons


def _with_nulls(call: Call, nullable: frozenset[str]) -> Call:
    return Call(call.name, {**call.arguments, **dict.fromkeys(nullable - call.arguments.keys())})
