"""A limit on the tool calls of a run or a thread."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, cast

from langchain_core.messages import AIMessage, BaseMessage, ToolCall, ToolMessage
from langgraph.runtime import Runtime

from ..state.errors import ConfigurationError
from ..state.history import pending_calls
from ..state.limit_errors import ToolCallLimitExceededError
from ..state.schema import AgentState, PrivateStateAttr, ResponseT
from .base import AgentMiddleware, hook_config
from .limits import check_limits, left, split_calls

ExitBehavior = Literal["continue", "error", "end"]
"""What calls beyond a limit mean: an error result each, an error, or the end of the run."""

REASON = "tool_call_limit"
"""Exit reason of a run that this limit ended."""

_ALL = "__all__"
_STOPPED = (
    "This call was not run: the run ended because another call of the same reply exceeded the "
    "limit of tool calls."
)


class ToolCallLimitState(AgentState[ResponseT]):
    """The counters of the limits, by tool name or ``__all__``."""

    thread_tool_call_count: NotRequired[Annotated[dict[str, int], PrivateStateAttr]]
    """Calls on the thread, those of the current run included."""
    run_tool_call_count: NotRequired[Annotated[dict[str, int], PrivateStateAttr]]
    """Calls in the current run, refused ones included."""
    earlier_tool_call_count: NotRequired[Annotated[dict[str, int], PrivateStateAttr]]
    """Calls on the thread before the current run."""


class ToolCallLimitMiddleware(AgentMiddleware[Any, Any, Any]):
    """Holds back tool calls beyond a limit, of one tool or of all together.

    Every call of a reply is answered, those held back with an error result, so the conversation
    stays valid whatever the limit does. The calls of a run are the ones that the agent's own
    ledger counts as run: an interrupt and its resume do not start the count anew, and a call that
    a person rejects does not use it up.

    It does not cover: further attempts of ``ToolRetryMiddleware`` within one call; tools that a
    sub-agent calls; tools that the provider runs on its side; calls that other middleware makes
    directly. Without a checkpointer a thread is a single run.
    """

    state_schema = ToolCallLimitState

    def __init__(
        self,
        *,
        tool_name: str | None = None,
        thread_limit: int | None = None,
        run_limit: int | None = None,
        exit_behavior: ExitBehavior = "continue",
    ) -> None:
        """Set the limits.

        Args:
            tool_name: The tool that is limited; all together if None.
            thread_limit: Calls of all runs on a thread, at most; None for no limit.
            run_limit: Calls of one run, at most; None for no limit.
            exit_behavior: What happens to calls beyond a limit: ``"continue"`` answers them with
                an error and goes on; ``"end"`` answers all open calls and ends the run with a
                message about the limit and the exit reason ``tool_call_limit``; ``"error"``
                raises ``ToolCallLimitExceededError``.

        Raises:
            ConfigurationError: No limit is given, or a setting is wrong.
        """
        check_limits(thread_limit, run_limit)
        if exit_behavior not in ("continue", "error", "end"):
            msg = f"Invalid exit_behavior: {exit_behavior!r}. Must be 'continue', 'error' or 'end'."
            raise ConfigurationError(msg)
        if thread_limit is not None and run_limit is not None and run_limit > thread_limit:
            msg = (
                f"run_limit ({run_limit}) cannot exceed thread_limit ({thread_limit}); lower the "
                "one or raise the other."
            )
            raise ConfigurationError(msg)
        self.tool_name = tool_name
        self.thread_limit = thread_limit
        self.run_limit = run_limit
        self.exit_behavior = exit_behavior
        self._key = tool_name or _ALL

    @property
    def name(self) -> str:
        """The class's name, with the tool's."""
        own = type(self).__name__
        return f"{own}[{self.tool_name}]" if self.tool_name else own

    @hook_config(quick=True)
    def before_agent(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any] | None:  # noqa: ARG002
        """Begin a new run on the thread."""
        earlier: dict[str, int] = state.get("thread_tool_call_count") or {}
        if earlier == (state.get("earlier_tool_call_count") or {}):
            return None
        return {"earlier_tool_call_count": earlier, "run_tool_call_count": {}}

    @hook_config(can_jump_to=["end"], quick=True)
    def after_model(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any] | None:  # noqa: ARG002
        """Count the calls of the reply and hold back those beyond a limit."""
        pending = pending_calls(state.get("messages") or [])
        mine = [c for c in pending if self.tool_name in (None, c["name"])]
        thread, run = self._counts(state)
        executed = "tool_call_counts" in state
        if executed and self.thread_limit is None and run + len(mine) <= (self.run_limit or 0):
            # The run's own ledger counts these calls.
            return None
        split = split_calls(mine, left(self.thread_limit, thread), left(self.run_limit, run))
        if not split.refused:
            counted = bool(mine) or thread != self._stored(state, "thread_tool_call_count")
            return self._update(state, thread + len(mine), run + len(mine)) if counted else None
        exceeded = ToolCallLimitExceededError(
            thread + len(mine),
            run + len(mine),
            self.thread_limit,
            self.run_limit,
            self.tool_name,
        )
        if self.exit_behavior == "error":
            raise exceeded
        refusals = {c["id"]: _answer(c, self._refusal) for c in split.refused}
        if self.exit_behavior == "continue":
            update = self._update(state, thread + len(split.allowed), run + len(mine))
            return {**update, "messages": list(refusals.values())}
        # Nothing of this reply runs, so nothing of it counts for the thread.
        answers = [refusals.get(c["id"]) or _answer(c, _STOPPED) for c in pending]
        return {
            **self._update(state, thread, run + len(mine)),
            "messages": [*answers, AIMessage(str(exceeded))],
            "jump_to": "end",
            "stop_run": REASON,
        }

    @property
    def _refusal(self) -> str:
        if self.tool_name is not None:
            return f"Tool call limit exceeded. Do not call {self.tool_name!r} again."
        return "Tool call limit exceeded. Do not make additional tool calls."

    def _counts(self, state: Any) -> tuple[int, int]:
        """Calls on the thread and in the run before the current reply.

        Both follow from the ledger, so two limits of one agent, or a call that was allowed and
        then rejected, make no difference.
        """
        executed: dict[str, int] | None = state.get("tool_call_counts")
        if executed is None:  # Called outside of a run.
            stored = self._stored(state, "thread_tool_call_count")
            return stored, self._stored(state, "run_tool_call_count")
        run = executed.get(self.tool_name, 0) if self.tool_name else sum(executed.values())
        return self._stored(state, "earlier_tool_call_count") + run, run

    def _stored(self, state: Any, name: str) -> int:
        return cast("int", (state.get(name) or {}).get(self._key, 0))

    def _update(self, state: Any, thread: int, run: int) -> dict[str, Any]:
        return {
            "thread_tool_call_count": {
                **(state.get("thread_tool_call_count") or {}),
                self._key: thread,
            },
            "run_tool_call_count": {**(state.get("run_tool_call_count") or {}), self._key: run},
        }


def _answer(call: ToolCall, text: str) -> BaseMessage:
    return ToolMessage(
        text, tool_call_id=cast("str", call["id"]), name=call["name"], status="error"
    )
