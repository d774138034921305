"""What a user interface and a confirmation strategy give back: brief, plain values.

Source: ``ConfirmationUIResult`` and ``ToolExecutionDecision`` of Haystack 3.4.1. Unlike there,
an action that is not known is an error and never runs a tool, and a person may also answer in the
tool's place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, cast, get_args

from langchain_core.messages import ToolCall

from ...state.approval_errors import InvalidDecisionError
from .decision import Action, Decision

UIAction = Literal["confirm", "reject", "modify", "respond"]
"""What a person can do with a tool call that is shown to them."""


@dataclass(frozen=True)
class ConfirmationUIResult:
    """What a person chose."""

    action: UIAction
    feedback: str | None = None
    """Their words: a reason, a note, or for ``respond`` the result of the call."""
    new_tool_params: dict[str, Any] | None = None
    """For ``modify``: all arguments of the call. They replace the model's."""

    def __post_init__(self) -> None:
        known = get_args(UIAction)
        if self.action not in known:
            msg = f"The user interface chose {self.action!r}; it may choose {', '.join(known)}."
            raise InvalidDecisionError(msg, allowed=known)
        if self.action == "modify" and self.new_tool_params is None:
            msg = "The user interface chose 'modify' without new_tool_params; give all arguments."
            raise InvalidDecisionError(msg, allowed=known)
        if self.action == "respond" and self.feedback is None:
            msg = "The user interface chose 'respond' without feedback; give the answer there."
            raise InvalidDecisionError(msg, allowed=known)


@dataclass(frozen=True)
class ToolExecutionDecision:
    """What is to become of one tool call."""

    tool_name: str
    execute: bool
    """Whether the tool runs."""
    tool_call_id: str | None = None
    """Id of the call; None means the call that the strategy was asked about."""
    feedback: str | None = None
    """What the model is told: the whole text, templates already filled in."""
    final_tool_params: dict[str, Any] | None = None
    """Arguments to run with; None means those of the call."""
    response: str | None = None
    """The result that a person gave in the tool's place; only where ``execute`` is False."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ToolExecutionDecision:
        """A decision from plain data.

        Raises:
            InvalidDecisionError: A field is missing, unknown or of a wrong type.
        """
        known = {f.name for f in fields(cls)}
        if unknown := sorted(set(data) - known):
            msg = (
                f"A tool execution decision has no {unknown[0]!r}; its fields are {sorted(known)}."
            )
            raise InvalidDecisionError(msg)
        if not isinstance(data.get("tool_name"), str) or not isinstance(data.get("execute"), bool):
            msg = f"{dict(data)!r} is no tool execution decision; give tool_name and execute."
            raise InvalidDecisionError(msg)
        return cls(**data)


def wire_decision(decision: ToolExecutionDecision, call: ToolCall) -> Decision:
    """The decision about ``call`` in the form that is stored, without its feedback.

    Raises:
        InvalidDecisionError: It is about another call or another tool, or is no decision.
    """
    _check_bound(decision, call)
    if decision.execute:
        args = decision.final_tool_params
        if args is None or args == call["args"]:
            return {"type": "approve"}
        return {"type": "edit", "edited_action": Action(name=call["name"], args=dict(args))}
    if decision.response is not None:
        return {"type": "respond", "message": decision.response}
    return {"type": "reject"}


def _check_bound(decision: Any, call: ToolCall) -> None:
    name, ident = call["name"], cast("str", call["id"])
    if not isinstance(decision, ToolExecutionDecision):
        what = type(decision).__name__
        msg = f"The strategy for {name!r} returned {what}; it must return a ToolExecutionDecision."
        raise InvalidDecisionError(msg, call_id=ident, tool_name=name)
    if decision.tool_call_id not in (None, ident) or decision.tool_name != name:
        msg = (
            f"The strategy for {name!r} was asked about call {ident!r} and decided about call "
            f"{decision.tool_call_id!r} of {decision.tool_name!r}; decide about the call asked."
        )
        raise InvalidDecisionError(msg, call_id=ident, tool_name=name)
    if not isinstance(cast("Any", decision.execute), bool):
        msg = f"The strategy for {name!r} gave execute={decision.execute!r}; give True or False."
        raise InvalidDecisionError(msg, call_id=ident, tool_name=name)
