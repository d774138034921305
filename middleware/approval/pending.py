"""What waits for a person, read off the interrupts of a paused thread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

from langgraph.types import Interrupt

from ...state.approval_errors import InvalidDecisionError
from ...tools.schema_fit import first_problem
from .answer import check_kind
from .answer_text import text_problem
from .decision import DECISION_TYPES, DecisionType
from .request import Asked, asked_in, is_single


@dataclass(frozen=True)
class PendingApproval:
    """One thing that waits for an answer."""

    id: str
    """What an answer is addressed to: the id of the tool call, or of the pause."""
    interrupt_id: str
    """Id of the pause it belongs to; several calls may share one."""
    kind: Literal["approval", "question"]
    """A tool call to decide about, or anything else that code of the program asks."""
    value: Any
    """The value of the pause, as it was raised."""
    tool: str | None = None
    """Name of the tool."""
    args: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The arguments that the model gave."""
    description: str = ""
    allowed: tuple[DecisionType, ...] = ()
    """What may be decided."""
    schema: Mapping[str, Any] | None = None
    """JSON schema of the answer: one decision, or what the question expects. None allows all."""
    position: int = 0
    """Place among the calls of its pause."""
    named: bool = True
    """The pause takes answers by call id; otherwise all of them at once, in order."""

    @property
    def full_id(self) -> str:
        """The id with that of the pause before it: unlike the id alone, it never comes again."""
        whole = self.id == self.interrupt_id or self.id.startswith(f"{self.interrupt_id}/")
        return self.id if whole else f"{self.interrupt_id}/{self.id}"

    def check(self, answer: Any) -> None:
        """Refuse an answer that the pause would refuse.

        Raises:
            InvalidDecisionError: With what is wrong with it and what may be decided.
        """
        if self.kind == "approval" and self.allowed:
            asked = Asked(self.tool or "", dict(self.args), self.description, self.allowed, self.id)
            check_kind(answer, asked)
        try:
            problem = text_problem(answer) or first_problem(answer, self.schema)
        except Exception as broken:  # noqa: BLE001 - a stored schema may be anything; it blocks
            problem = f"its schema cannot be used ({type(broken).__name__})"
        if problem is None:
            return
        what = f"call {self.id!r} of {self.tool!r}" if self.tool else f"question {self.id!r}"
        allowed = f" Allowed are {', '.join(self.allowed)}." if self.allowed else ""
        msg = f"This answer to {what} is refused: {problem}.{allowed} It still waits."
        raise InvalidDecisionError(msg, call_id=self.id, tool_name=self.tool, allowed=self.allowed)


def pending_in(interrupts: Iterable[Interrupt[Any]]) -> list[PendingApproval]:
    """Everything that waits, in the order in which it was asked.

    Where two pauses, as of two agents in one graph, ask about calls of the same id, the id of the
    pause and a slash stand before it.
    """
    found = [p for interrupt in interrupts for p in _pending_of(interrupt)]
    times = Counter(p.id for p in found)
    return [p if times[p.id] == 1 else _qualified(p) for p in found]


def resume_value(waiting: Sequence[PendingApproval], answers: Mapping[str, Any]) -> Any:
    """What one pause is resumed with.

    Args:
        waiting: Everything that waits in this pause.
        answers: Checked answers by the ids of some of it.

    Raises:
        InvalidDecisionError: The pause takes all answers at once, and some are missing.
    """
    first = waiting[0]
    if first.kind == "question" or is_single(first.value):
        return answers[first.id]
    if first.named:
        return {"decisions": {_call_id(p): answers[p.id] for p in waiting if p.id in answers}}
    if missing := [p.id for p in waiting if p.id not in answers]:
        msg = f"Decide about all calls of this pause at once; missing are {missing}."
        raise InvalidDecisionError(msg, call_id=missing[0])
    return {"decisions": [answers[p.id] for p in waiting]}


def _pending_of(interrupt: Interrupt[Any]) -> list[PendingApproval]:
    asked = asked_in(interrupt.value)
    schema: Any = interrupt.response_schema
    if not asked:
        return [
            PendingApproval(interrupt.id, interrupt.id, "question", interrupt.value, schema=schema)
        ]
    named = all(a.call_id is not None for a in asked)
    return [
        PendingApproval(
            id=cast("str", a.call_id) if named else f"{interrupt.id}/{n}",
            interrupt_id=interrupt.id,
            kind="approval",
            value=interrupt.value,
            tool=a.name,
            args=a.args,
            description=a.description,
            allowed=a.allowed or _kinds_in(schema),
            schema=schema if is_single(interrupt.value) else _nth_schema(schema, n),
            position=n,
            named=named,
        )
        for n, a in enumerate(asked)
    ]


def _qualified(pending: PendingApproval) -> PendingApproval:
    return replace(pending, id=f"{pending.interrupt_id}/{pending.id}")


def _call_id(pending: PendingApproval) -> str:
    return pending.id.removeprefix(f"{pending.interrupt_id}/")


def _nth_schema(schema: Any, position: int) -> Mapping[str, Any] | None:
    """The part of the schema of all decisions that is about one of them."""
    try:
        forms: Any = schema["properties"]["decisions"]["oneOf"]
        part: Any = forms[0]["prefixItems"][position]
    except (KeyError, IndexError, TypeError):
        return None
    return {"$defs": schema.get("$defs", {}), **part} if isinstance(part, Mapping) else None


def _kinds_in(schema: Any) -> tuple[DecisionType, ...]:
    """The kinds of decision that a schema of one decision names."""
    branches = _at(schema, "discriminator", "mapping")
    alone = _at(schema, "properties", "type", "const")
    several: Any = {}
    if isinstance(branches, Mapping):
        several = cast("Mapping[str, Any]", branches)
    return tuple(d for d in DECISION_TYPES if d == alone or d in several)


def _at(schema: Any, *path: str) -> Any:
    """What stands at a place of a schema; None if there is nothing."""
    for key in path:
        schema = cast("Any", schema).get(key) if isinstance(schema, Mapping) else None
    return schema
