"""Reading an answer: which call each decision is about, and whether it may be made.

The texts for a wrong number and for a decision that is not allowed are those of LangChain 1.5.2,
which programs look for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, cast

from ...state.approval_errors import InvalidDecisionError, NotWaitingError
from .answer_text import text_problem
from .decision import Decision
from .request import Asked

MAX_SHOWN = 300
"""Characters of a wrong answer that its error repeats."""


def read_answer(answer: Any, asked: Sequence[Asked]) -> dict[str, Decision]:
    """The decisions of an answer by call id, each of an allowed kind.

    Args:
        answer: ``{"decisions": [...]}`` with one decision per call, or
            ``{"decisions": {call_id: ...}}`` with some of them.
        asked: The calls that wait, in call order.

    Raises:
        InvalidDecisionError: The answer has another form, the number of decisions is wrong, or
            one is not allowed.
        NotWaitingError: It names a call that does not wait.
    """
    decisions: Any = (
        cast("dict[str, Any]", answer).get("decisions")
        if isinstance(answer, dict) and set(cast("dict[str, Any]", answer)) == {"decisions"}
        else None
    )
    by_id = {_id_of(a, n): a for n, a in enumerate(asked)}
    if isinstance(decisions, (list, tuple)):
        listed = cast("Sequence[Any]", decisions)
        if len(listed) != len(asked):
            msg = (
                f"Number of human decisions ({len(listed)}) does not match number of hanging "
                f"tool calls ({len(asked)}). Give one for each of {sorted(by_id)}, in their order."
            )
            raise InvalidDecisionError(msg)
        named = dict(zip(by_id, listed, strict=True))
    elif isinstance(decisions, dict) and decisions:
        named = cast("dict[str, Any]", decisions)
    else:
        _refuse_form(answer, by_id)
    if unknown := [ident for ident in named if ident not in by_id]:
        msg = f"No call {unknown[0]!r} waits for a decision; those that wait are {sorted(by_id)}."
        raise NotWaitingError(msg, asked=unknown, waiting=sorted(by_id))
    return {ident: check_kind(value, by_id[ident]) for ident, value in named.items()}


def check_kind(decision: Any, asked: Asked) -> Decision:
    """The decision, if it is one, of a kind that its call allows, and of valid text.

    Raises:
        InvalidDecisionError: It is not.
    """
    kind = cast("Any", decision).get("type") if isinstance(decision, Mapping) else None
    if kind not in asked.allowed:
        msg = (
            f"Unexpected human decision: {_short(decision)}. Decision type {_short(kind)} is not "
            f"allowed for tool {asked.name!r}. Expected one of {list(asked.allowed)} based on the "
            "tool's configuration."
        )
        raise _refused(msg, asked)
    if (problem := text_problem(decision)) is not None:
        msg = f"The decision about tool {asked.name!r} is refused: {problem}. It still waits."
        raise _refused(msg, asked)
    return cast("Decision", decision)


def _refused(msg: str, asked: Asked) -> InvalidDecisionError:
    return InvalidDecisionError(
        msg, call_id=asked.call_id, tool_name=asked.name, allowed=asked.allowed
    )


def _short(value: Any) -> str:
    """A value for an error text, however long it is."""
    text = repr(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"


def _id_of(asked: Asked, position: int) -> str:
    return asked.call_id if asked.call_id is not None else str(position)


def _refuse_form(answer: Any, by_id: Mapping[str, Asked]) -> NoReturn:
    msg = (
        f"The answer {_short(answer)} is no answer to a review; give {{'decisions': [...]}} with "
        f"one decision for each of {sorted(by_id)}, in call order, or {{'decisions': {{id: ...}}}}."
    )
    raise InvalidDecisionError(msg)
