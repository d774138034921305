"""A limit on the model calls of a run or a thread."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime

from ..state.errors import ConfigurationError
from ..state.limit_errors import ModelCallLimitExceededError, model_calls_text
from ..state.schema import AgentState, PrivateStateAttr, ResponseT
from .base import AgentMiddleware, hook_config
from .limits import check_limits

REASON = "model_call_limit"
"""Exit reason of a run that this limit ended."""


class ModelCallLimitState(AgentState[ResponseT]):
    """The counters of the limit; only a thread limit writes them."""

    thread_model_call_count: NotRequired[Annotated[int, PrivateStateAttr]]
    """Calls on the thread, those of the current run included."""
    run_model_call_count: NotRequired[Annotated[int, PrivateStateAttr]]
    """Calls of the current run that the thread's count includes."""


class ModelCallLimitMiddleware(AgentMiddleware[Any, Any, Any]):
    """Ends a run before the model is called more often than it may be.

    The calls of a run are counted by the agent's own ledger, so an interrupt and its resume, or a
    hook that jumps, do not start the count anew. A thread's calls are kept with the thread.

    It does not cover: further attempts of a retry or fallback within one call; calls that other
    middleware or a sub-agent makes (give the sub-agent a limit of its own); the cost of a call,
    for which there is ``TokenBudgetMiddleware``. Without a checkpointer a thread is a single run.
    """

    state_schema = ModelCallLimitState

    def __init__(
        self,
        *,
        thread_limit: int | None = None,
        run_limit: int | None = None,
        exit_behavior: Literal["end", "error"] = "end",
    ) -> None:
        """Set the limits.

        Args:
            thread_limit: Model calls of all runs on a thread, at most; None for no limit.
            run_limit: Model calls of one run, at most; None for no limit.
            exit_behavior: ``"end"`` ends the run with a message about the limit and the exit
                reason ``model_call_limit``; ``"error"`` raises ``ModelCallLimitExceededError``.

        Raises:
            ConfigurationError: No limit is given, or a setting is wrong.
        """
        check_limits(thread_limit, run_limit)
        if exit_behavior not in ("end", "error"):
            msg = f"Invalid exit_behavior: {exit_behavior!r}. Must be 'end' or 'error'."
            raise ConfigurationError(msg)
        self.thread_limit = thread_limit
        self.run_limit = run_limit
        self.exit_behavior = exit_behavior

    @hook_config(quick=True)
    def before_agent(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any] | None:  # noqa: ARG002
        """Begin a new run on the thread."""
        return {"run_model_call_count": 0} if state.get("run_model_call_count") else None

    @hook_config(can_jump_to=["end"], quick=True)
    def before_model(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any] | None:  # noqa: ARG002
        """End the run if a limit is reached."""
        thread, run = self._counts(state)
        limits = ((thread, self.thread_limit), (run, self.run_limit))
        if not any(limit is not None and count >= limit for count, limit in limits):
            return None
        if self.exit_behavior == "error":
            raise ModelCallLimitExceededError(thread, run, self.thread_limit, self.run_limit)
        text = model_calls_text(thread, run, self.thread_limit, self.run_limit)
        return {"jump_to": "end", "stop_run": REASON, "messages": [AIMessage(text)]}

    @hook_config(quick=True)
    def after_model(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any] | None:  # noqa: ARG002
        """Count the call on the thread."""
        if self.thread_limit is None:
            return None
        thread, run = self._counts(state)
        return {"thread_model_call_count": thread + 1, "run_model_call_count": run + 1}

    def _counts(self, state: Any) -> tuple[int, int]:
        """Model calls on the thread and in the run before the current step.

        The ledger knows the run's. Those of earlier runs are what the thread's count has beyond
        the calls of this run that are in it, so counting twice, by two limits of one agent, gives
        the same, and a call that a hook kept from being counted is counted the next time.
        """
        counted = state.get("run_model_call_count") or 0
        run = state.get("step_count", counted)
        return (state.get("thread_model_call_count") or 0) - counted + run, run
