"""The run's ledger: counters and the reason for its end, kept for one run and no longer.

A new input starts an empty ledger; an interrupt and its resume keep it. The ledger travels in
one private channel that each node writes again (``run_ledger``), so it costs one write per step;
what users read are the output keys of :class:`RunLedger`, written when the run ends. The last
message is a result only: a thread holds it once, in its messages.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, Any, NotRequired, Self, cast

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.messages.ai import UsageMetadata, add_usage
from langgraph.channels.ephemeral_value import EphemeralValue
from langgraph.channels.last_value import LastValue
from langgraph.channels.topic import Topic
from langgraph.channels.untracked_value import UntrackedValue
from typing_extensions import TypedDict

from .failures import CallRecords, Carried
from .schema import OmitFromInput, PrivateStateAttr
from .stored_run import check_ledger


def run_scoped() -> EphemeralValue[Any]:
    """A channel that is empty when a run starts and may be written by parallel tasks."""
    return EphemeralValue(Any, guard=False)


class Gathered(Topic[Any]):
    """What parallel tasks wrote in the step before, as a list.

    A stored value that is no list stays, as the one entry of a list: langgraph would fail on it
    before anybody could say what is wrong.
    """

    __slots__ = ()

    def from_checkpoint(self, checkpoint: Any) -> Self:
        """A channel with the stored values."""
        new = super().from_checkpoint(checkpoint)
        stored: Any = new.values
        new.values = cast("list[Any]", stored) if isinstance(stored, list) else [stored]
        return new


class RunLedger(TypedDict):
    """What the result of every run says about the run."""

    exit_reason: NotRequired[Annotated[str, run_scoped(), OmitFromInput]]
    exit_message: NotRequired[Annotated[str, run_scoped(), OmitFromInput]]
    step_count: NotRequired[Annotated[int, run_scoped(), OmitFromInput]]
    token_usage: NotRequired[Annotated[dict[str, Any], run_scoped(), OmitFromInput]]
    tool_call_counts: NotRequired[Annotated[dict[str, int], run_scoped(), OmitFromInput]]
    context_tokens: NotRequired[Annotated[int, run_scoped(), OmitFromInput]]
    last_message: NotRequired[
        Annotated[AnyMessage, UntrackedValue(object, guard=False), OmitFromInput]
    ]
    run_ledger: NotRequired[Annotated[dict[str, Any], run_scoped(), PrivateStateAttr]]
    updated_by: NotRequired[Annotated[dict[str, Any], run_scoped(), PrivateStateAttr]]
    run_options: NotRequired[Annotated[dict[str, Any] | None, LastValue(object), PrivateStateAttr]]
    run_failure: NotRequired[Annotated[Any, Carried(object, guard=False), PrivateStateAttr]]
    failed_calls: NotRequired[
        Annotated[list[Any], CallRecords(object, guard=False), PrivateStateAttr]
    ]
    for_parent: NotRequired[Annotated[list[Any], Gathered(dict), PrivateStateAttr]]


INNER_USAGE = "token_usage"
"""Key of a tool message's ``response_metadata``: the usage metadata of the model calls that the
tool made, such as those of a sub-agent, to be counted as the run's."""

LEDGER_OUTPUTS = (
    "exit_reason",
    "exit_message",
    "step_count",
    "token_usage",
    "tool_call_counts",
    "context_tokens",
    "last_message",
)
"""The keys of a result that the library itself writes."""

ENGINE_KEYS = ("run_ledger", "run_failure", "failed_calls", "run_options", "for_parent")
"""Channels of the node runner that no one else reads."""

RESERVED_KEYS = frozenset(
    {
        *LEDGER_OUTPUTS,
        *ENGINE_KEYS,
        "updated_by",
        "continue_run",
        "hook_context",
        "remaining_steps",
        "stop_run",
        "tools",
    }
)
"""State keys that no schema may declare."""


@dataclass(frozen=True)
class Cursor:
    """Where a node that was left in the middle goes on."""

    phase: str
    """Name of the phase."""
    index: int = 0
    """Position of the first hook of the phase that has not run yet."""


class Kept(TypedDict):
    """A reply of the model that is given once more when its step runs again."""

    request: str
    """Digest of what was sent."""
    reply: AIMessage


@dataclass
class Ledger:
    """The counters of the current run, as the node runner works with them."""

    step_count: int = 0
    """Completed steps: one model call and the tool calls it asked for."""
    token_usage: dict[str, Any] = field(default_factory=dict[str, Any])
    """Usage metadata summed over the run's model calls."""
    context_tokens: int = 0
    """Tokens of the last model call, input and output together."""
    tool_call_counts: dict[str, int] = field(default_factory=dict[str, int])
    """Executed calls per tool name."""
    exit_reason: str | None = None
    exit_message: str | None = None
    """Id of the message that ended the run."""
    fruitless_replies: int = 0
    """Replies in a row that were empty or held no call that could be read."""
    output_attempts: list[str] = field(default_factory=list[str])
    """Why each structured answer so far was refused, oldest first."""
    output_failed: str | None = None
    """Exit reason of a run whose structured answer failed for good."""
    output: str | None = None
    """What the last reply meant for the structured answer that is due: ``answered`` or ``again``."""
    final_answer: bool = False
    """The next model call is the last one and gets no tools."""
    open_step: bool = False
    """A model reply has been taken whose step is not counted yet."""
    running: list[str] = field(default_factory=list[str])
    """Ids of the calls of the last reply that were handed to a tool, in call order."""
    direct: list[str] = field(default_factory=list[str])
    """Those of them whose tool returns directly to the user."""
    decided: tuple[str, str | None, str | None] | None = None
    """Where to go after the ``after_tools`` hooks: target, exit reason, id of the message."""
    checked: tuple[int, str] | None = None
    """Length of the repaired history and the id of its last message."""
    for_parent: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """Commands of tools for the graph around, in call order, given when the run has ended."""
    closing: bool = False
    """The run must end: nothing that a hook asks for leads back into it."""
    failing: dict[str, Any] | None = None
    """What ``on_error`` hooks are still to be told, as ``graph/failing.py`` writes it."""
    kept: list[Kept] = field(default_factory=list[Kept])
    """Replies of the model behind which a layer failed or paused."""
    cursor: Cursor | None = None

    @classmethod
    def load(cls, stored: dict[str, Any] | None) -> Ledger:
        """The ledger that a node of this run wrote, or an empty one.

        Raises:
            StorageError: The thread holds something else.
        """
        if not stored:
            return cls()
        values = dict(check_ledger(stored))
        if cursor := values.get("cursor"):
            values["cursor"] = Cursor(*cursor)
        for key in ("checked", "decided"):
            if key in values:
                values[key] = tuple(values[key])
        return cls(**values)

    def dump(self) -> dict[str, Any]:
        """Plain data for the channel: only what differs from an empty ledger."""
        values = {k: v for k, v in self.__dict__.items() if v}
        if self.cursor is not None:
            values["cursor"] = [self.cursor.phase, self.cursor.index]
        for key in ("checked", "decided"):
            if key in values:
                values[key] = list(values[key])
        return values

    def outputs(self) -> dict[str, Any]:
        """The output keys, those without a value left out."""
        values: dict[str, Any] = {
            "step_count": self.step_count,
            "token_usage": self.token_usage,
            "tool_call_counts": self.tool_call_counts,
            "context_tokens": self.context_tokens,
        }
        if self.exit_reason is not None:
            values["exit_reason"] = self.exit_reason
        if self.exit_message is not None:
            values["exit_message"] = self.exit_message
        return values

    def take_kept(self) -> list[Kept]:
        """The kept replies for a node that begins with the model.

        They stay while hooks are told of the failure, and are dropped where the run goes elsewhere.
        """
        phase = None if self.cursor is None else self.cursor.phase
        kept = self.kept if phase == "model" else []
        if phase != "on_error":
            self.kept = []
        return kept

    def take_usage(self, reply: AIMessage, *, counted: bool = False) -> None:
        """Add the usage that a model reported with its reply.

        Args:
            reply: The reply.
            counted: Its usage has been added already.
        """
        usage = reply.usage_metadata
        if not usage:
            return
        if not counted:
            self.add_usage(usage)
        size = usage.get("input_tokens", 0) + usage.get("output_tokens", 0)
        self.context_tokens = size or self.context_tokens

    def take_inner_usage(self, result: ToolMessage) -> None:
        """Add what the models used that a tool called, if its result says so."""
        if usage := result.response_metadata.get(INNER_USAGE):
            self.add_usage(cast("UsageMetadata", usage))

    def add_usage(self, usage: UsageMetadata) -> None:
        """Add the usage of a model call to that of the run."""
        before = cast("UsageMetadata | None", self.token_usage or None)
        self.token_usage = dict(add_usage(before, usage))

    def count_tool(self, name: str) -> None:
        """Count one executed call of a tool."""
        self.tool_call_counts = {
            **self.tool_call_counts,
            name: self.tool_call_counts.get(name, 0) + 1,
        }

    def copy(self) -> Ledger:
        """A ledger that can be changed without changing this one."""
        return replace(self)
