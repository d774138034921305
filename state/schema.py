"""The agent's state, and the marks that keep a key out of its input or output."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Generic, Literal, NotRequired, Required

from langchain_core.messages import AnyMessage
from langgraph.channels.ephemeral_value import EphemeralValue
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict, TypeVar

ResponseT = TypeVar("ResponseT", default=Any)

JumpTo = Literal["model", "tools", "end"]
"""The nodes a hook may send the run to."""

JUMP_TARGETS: tuple[JumpTo, ...] = ("model", "tools", "end")


@dataclass(frozen=True)
class OmitFromSchema:
    """Marks a state key, inside ``Annotated``, as no part of an agent's input or output."""

    input: bool = True
    """What a caller gives for the key is dropped."""
    output: bool = True
    """The key is not in the result of a run."""


OmitFromInput = OmitFromSchema(input=True, output=False)
"""The key is a result only."""

OmitFromOutput = OmitFromSchema(input=False, output=True)
"""The key is an input only."""

PrivateStateAttr = OmitFromSchema(input=True, output=True)
"""The key is neither input nor result: hooks and tools see it, streams, traces and ``get_state``
leave it out."""


class AgentState(TypedDict, Generic[ResponseT]):
    """What every agent keeps during a run.

    Subclass it to add keys of your own. ``messages`` must be given unless the agent has a user
    prompt; ``jump_to`` is gone after the step that follows it; ``structured_response`` is there
    once a ``response_format`` is set and answered.
    """

    messages: Required[Annotated[list[AnyMessage], add_messages]]
    jump_to: NotRequired[Annotated[JumpTo | None, EphemeralValue, PrivateStateAttr]]
    structured_response: NotRequired[Annotated[ResponseT, OmitFromInput]]


class InputAgentState(TypedDict):
    """The default input of an agent."""

    messages: Required[Annotated[list[AnyMessage | dict[str, Any]], add_messages]]


class OutputAgentState(TypedDict, Generic[ResponseT]):
    """The default result of an agent, without the run's ledger."""

    messages: Required[Annotated[list[AnyMessage], add_messages]]
    structured_response: NotRequired[ResponseT]
