"""What the thread remembers of a review: verdicts and decisions, by call id.

A record holds only for one exact call: the fingerprint covers the model's message, the tool's name
and all arguments. So neither an old approval nor one for other arguments can be used again.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, NotRequired, cast, get_type_hints

from langchain_core.messages import AIMessage, BaseMessage, ToolCall
from typing_extensions import TypedDict

from ...state.history import last_ai_message, unanswered
from ...state.schema import AgentState, PrivateStateAttr
from .decision import Action, Decision, DecisionType


class Review(TypedDict):
    """What is known about one call."""

    call: str
    """Fingerprint of the call."""
    ask: bool
    """The verdict: a person must decide."""
    decision: NotRequired[DecisionType]
    """What the person decided."""
    note: NotRequired[str]
    """What the model is told before the result."""
    problem: NotRequired[str]
    """Why the policy could not tell."""


class Given(TypedDict):
    """A decision that was made outside of the run."""

    decision: Decision
    text: NotRequired[str]
    """What the model is told of it; without it the words of the rule."""


def merge_confirmed(
    current: dict[str, float] | None, new: dict[str, float] | None
) -> dict[str, float]:
    """Both notes of confirmed calls: calls that run at the same time may each add one."""
    return {**(current or {}), **(new or {})}


@dataclass(frozen=True)
class StateKeys:
    """Names of the state keys of one middleware: several in one agent share nothing."""

    edits: str = "hitl_edited_tool_calls"
    """What runs instead of an edited call, by call id: ``{"name", "args"}``."""
    reviews: str = "hitl_reviews"
    """Reviews by call id."""
    confirmed: str = "hitl_confirmed"
    """When each confirmed call was confirmed, in seconds since 1970, by confirmation key."""
    given: str = "hitl_given"
    """Decisions that came with a snapshot and are not carried out yet, by call id."""

    @classmethod
    def of(cls, name: str) -> StateKeys:
        """The keys of the middleware of that name in its agent."""
        suffix = re.sub(r"\W+", "_", name).lower()
        return cls(*(f"{field.default}_{suffix}" for field in fields(cls)))

    def schema(self, base: Any) -> type[Any]:
        """A state schema with these keys beside those of ``base``."""
        annotations = {
            **get_type_hints(base, include_extras=True),
            self.edits: NotRequired[Annotated[dict[str, Action], PrivateStateAttr]],
            self.reviews: NotRequired[Annotated[dict[str, Review], PrivateStateAttr]],
            self.confirmed: NotRequired[
                Annotated[dict[str, float], PrivateStateAttr, merge_confirmed]
            ],
            self.given: NotRequired[Annotated[dict[str, Given], PrivateStateAttr]],
        }
        # The keys are only known when the agent is built: what the functional form is for.
        return cast("type[Any]", TypedDict("ReviewState", annotations))  # type: ignore[operator]


class ReviewState(AgentState[Any]):
    """The state keys of a middleware that belongs to no agent yet."""

    hitl_edited_tool_calls: NotRequired[Annotated[dict[str, Action], PrivateStateAttr]]
    hitl_reviews: NotRequired[Annotated[dict[str, Review], PrivateStateAttr]]
    hitl_confirmed: NotRequired[Annotated[dict[str, float], PrivateStateAttr, merge_confirmed]]
    hitl_given: NotRequired[Annotated[dict[str, Given], PrivateStateAttr]]


def fingerprint(reply: AIMessage, name: str, args: Mapping[str, Any]) -> str:
    """A digest of one exact call of one message, the same in every process."""
    text = json.dumps([reply.id, name, args], sort_keys=True, default=repr)
    return hashlib.sha256(text.encode()).hexdigest()


def open_calls(
    state: Mapping[str, Any], concerns: Callable[[str], object]
) -> tuple[AIMessage, list[ToolCall]] | None:
    """The last reply of the model and its calls without a result, or None if there are none.

    Args:
        state: The state.
        concerns: Tells by the name of a tool, with anything but None, whether its calls matter.
    """
    messages = cast("list[BaseMessage]", state.get("messages") or [])
    found = last_ai_message(messages)
    if found is None:
        return None
    position, reply = found
    wanted = [call for call in reply.tool_calls if concerns(call["name"]) is not None]
    calls = unanswered(wanted, messages, position)
    return (reply, calls) if calls else None


def review_of(reviews: Mapping[str, Review], reply: AIMessage, call: ToolCall) -> Review | None:
    """What is known about a call: nothing if anything about it has changed."""
    review = reviews.get(cast("str", call["id"]))
    if review is None or review["call"] != fingerprint(reply, call["name"], call["args"]):
        return None
    return review
