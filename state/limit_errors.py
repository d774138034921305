"""The limits of a run or a thread that a guardrail enforces by an error."""

from __future__ import annotations

from .errors import RunError


class LimitExceededError(RunError):
    """A limit that a guardrail sets is used up."""


class ModelCallLimitExceededError(LimitExceededError):
    """The model has been called as often as it may be."""

    def __init__(
        self,
        thread_count: int,
        run_count: int,
        thread_limit: int | None,
        run_limit: int | None,
    ) -> None:
        super().__init__(model_calls_text(thread_count, run_count, thread_limit, run_limit))
        self.thread_count = thread_count
        """Calls on the thread so far."""
        self.run_count = run_count
        """Calls in the run so far."""
        self.thread_limit = thread_limit
        self.run_limit = run_limit


class ToolCallLimitExceededError(LimitExceededError):
    """The model wants more tool calls than it may make."""

    def __init__(
        self,
        thread_count: int,
        run_count: int,
        thread_limit: int | None,
        run_limit: int | None,
        tool_name: str | None = None,
    ) -> None:
        super().__init__(
            tool_calls_text(thread_count, run_count, thread_limit, run_limit, tool_name)
        )
        self.thread_count = thread_count
        """Calls on the thread, the refused ones included."""
        self.run_count = run_count
        """Calls in the run, the refused ones included."""
        self.thread_limit = thread_limit
        self.run_limit = run_limit
        self.tool_name = tool_name
        """The limited tool; None where all tools share the limit."""


class BudgetExceededError(LimitExceededError):
    """A run or thread has spent what it may spend."""

    def __init__(self, message: str, *, spent: float, budget: float) -> None:
        super().__init__(message)
        self.spent = spent
        """Tokens, or the unit of the prices."""
        self.budget = budget


def model_calls_text(
    thread_count: int, run_count: int, thread_limit: int | None, run_limit: int | None
) -> str:
    """Which limits of model calls are used up."""
    limits = (("thread", thread_count, thread_limit), ("run", run_count, run_limit))
    used_up = [
        f"{name} limit ({count}/{limit})"
        for name, count, limit in limits
        if limit is not None and count >= limit
    ]
    return f"Model call limits exceeded: {', '.join(used_up)}"


def tool_calls_text(
    thread_count: int,
    run_count: int,
    thread_limit: int | None,
    run_limit: int | None,
    tool_name: str | None,
) -> str:
    """Which limits of tool calls would be exceeded, the counts with the refused calls."""
    limits = (("thread", thread_count, thread_limit), ("run", run_count, run_limit))
    exceeded = [
        f"{name} limit exceeded ({count}/{limit} calls)"
        for name, count, limit in limits
        if limit is not None and count > limit
    ]
    what = f"{tool_name!r} tool" if tool_name else "Tool"
    return f"{what} call limit reached: {' and '.join(exceeded)}."
