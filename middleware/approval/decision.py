"""What a reviewer may decide about a tool call, in the form that travels and is stored.

Source: the decisions of LangChain 1.5.2's ``HumanInTheLoopMiddleware``; programs and inboxes
written for those work unchanged. A note for the model beside an approval or an edit is ours.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, get_args

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

DecisionType = Literal["approve", "edit", "reject", "respond"]
"""The kinds of decision."""

DECISION_TYPES: tuple[DecisionType, ...] = get_args(DecisionType)

# A key that a decision does not have is a slip of the hand, and the reviewer should hear of it.
_STRICT = with_config(ConfigDict(extra="forbid"))


class Action(TypedDict):
    """A tool and its arguments."""

    name: str
    """Name of the tool."""
    args: dict[str, Any]
    """Its arguments, all of them."""


@_STRICT
class ApproveDecision(TypedDict):
    """Run the call as the model made it."""

    type: Literal["approve"]
    message: NotRequired[str]
    """A note for the model, put before the tool's result."""


@_STRICT
class EditDecision(TypedDict):
    """Run this instead of what the model asked for."""

    type: Literal["edit"]
    edited_action: Action
    """What to run; its arguments replace the model's, they are not merged."""
    message: NotRequired[str]
    """A note for the model, put before the tool's result."""


@_STRICT
class RejectDecision(TypedDict):
    """Do not run the call."""

    type: Literal["reject"]
    message: NotRequired[str]
    """Why; the model reads it in place of a result."""


@_STRICT
class RespondDecision(TypedDict):
    """Do not run the call; this is its result."""

    type: Literal["respond"]
    message: str
    """The result that the model reads."""


Decision = ApproveDecision | EditDecision | RejectDecision | RespondDecision


def same_action(one: Action, other: Action) -> bool:
    """Whether two actions run the same tool with the same arguments."""
    return one["name"] == other["name"] and one["args"] == other["args"]
