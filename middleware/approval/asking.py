"""Asking a person: by a pause of the run that waits for an answer, or here and now."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph._internal._constants import CONFIG_KEY_CHECKPOINTER
from langgraph.types import interrupt
from pydantic import TypeAdapter, ValidationError

from ...state.approval_errors import CannotPauseError, InvalidDecisionError
from ...tools.calls import Calls
from .answer import read_answer
from .decision import Decision
from .question import Question, review_answer_type, review_request
from .strategy import Inquiry, consult

FollowUp = Callable[[Question, Decision], Question | None]
"""The question that a decision raises, if any."""

MAX_ASKED = 3
"""How often a person is asked here and now before a decision that may not be made is an error."""


@dataclass(frozen=True)
class Decided:
    """A question with its decision."""

    question: Question
    decision: Decision
    text: str | None = None
    """What the model reads; None leaves it to the rule."""


def check_can_pause(questions: Sequence[Question], config: RunnableConfig) -> None:
    """Refuse to ask where the answer could never come back.

    Raises:
        CannotPauseError: No checkpointer would store the pause.
    """
    # langgraph 1.2.24 says it nowhere else: a thread id is there without a checkpointer too.
    if config.get("configurable", {}).get(CONFIG_KEY_CHECKPOINTER):
        return
    names = ", ".join(dict.fromkeys(repr(q.call["name"]) for q in questions))
    msg = (
        f"A person must decide about calls of {names}, but nothing would store the pause; give "
        "create_agent a checkpointer, or ask here and now with a strategy that has a user "
        "interface."
    )
    raise CannotPauseError(msg)


def ask_together(questions: Sequence[Question], follow_up: FollowUp) -> list[Decided]:
    """Decisions about all questions, from one pause or from several.

    Each pause carries all questions that are still open; an answer may leave some of them open.
    What was answered is stored by langgraph with the paused task, so it is not asked again.

    Raises:
        GraphInterrupt: The run pauses.
        ValidationError: An answer does not fit; it is not stored and the pause goes on.
    """
    waiting = {q.id: q for q in questions}
    decided: dict[str, Decided] = {}
    while waiting:
        asked = list(waiting.values())
        answer = interrupt(review_request(asked), response_schema=review_answer_type(asked))
        for ident, decision in read_answer(answer, [q.asked for q in asked]).items():
            question = waiting.pop(ident)
            if (again := follow_up(question, decision)) is not None:
                waiting[ident] = again
            else:
                decided[ident] = Decided(question, decision)
    return [decided[q.id] for q in questions]


def ask_alone(question: Question, follow_up: FollowUp) -> Decided:
    """The decision about one question, from a pause of its own.

    Raises:
        GraphInterrupt: The run pauses.
        ValidationError: The answer does not fit; it is not stored and the pause goes on.
    """
    asked = question
    while True:
        decision: Any = interrupt(asked.approval_request(), response_schema=asked.answer_type)
        if (again := follow_up(asked, decision)) is None:
            return Decided(asked, decision)
        asked = again


async def ask_now(calls: Calls, question: Question, context: Any) -> Decided:
    """The decision about one question, from the strategy of its rule.

    A decision that may not be made is asked again, with the reason.

    Args:
        calls: How to call the strategy.
        question: The question.
        context: The run's own context, handed to the strategy as it is.

    Raises:
        InvalidDecisionError: It is still none after several times, or the strategy is broken.
        HITLBreakpointException: The strategy stops the run.
    """
    problem: InvalidDecisionError | None = None
    for _ in range(MAX_ASKED):
        inquiry = Inquiry.of(question, context, problem)
        decision, text = await consult(calls, question.rule.strategy, inquiry)
        try:
            check_decision(question, decision)
        except InvalidDecisionError as error:
            problem = error
        else:
            return Decided(question, decision, text)
    raise problem or AssertionError(question)


def check_decision(question: Question, decision: Decision) -> None:
    """Refuse a decision that the rule does not allow or whose arguments do not fit the tool.

    Raises:
        InvalidDecisionError: With the call, the place and the rule.
    """
    try:
        TypeAdapter(question.answer_type).validate_python(decision)
    except ValidationError as error:
        lines = [
            f"{'.'.join(map(str, e['loc'])) or 'decision'}: {e['msg']}"
            for e in error.errors(include_url=False, include_context=False, include_input=False)
        ]
        msg = (
            f"The decision about call {question.id!r} of {question.call['name']!r} may not be "
            f"made: {'; '.join(lines)}. Allowed are {', '.join(question.rule.allowed)}."
        )
        raise InvalidDecisionError(
            msg, call_id=question.id, tool_name=question.call["name"], allowed=question.rule.allowed
        ) from error
