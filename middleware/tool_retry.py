"""Running a tool again when a call of it fails."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from ..tools.error_text import scrub
from .base import AgentMiddleware
from .flows import Flow, flow_layer
from .retry_hints import default_retry_on
from .retrying import OnFailure, Retrying, RetryOn, RetryPolicy, attempts_text, retry_flow
from .tool_filter import called_tool, concerns, error_answer, tool_names

_DEPRECATED: dict[str, OnFailure] = {"raise": "error", "return_message": "continue"}


class ToolRetryMiddleware(Retrying, AgentMiddleware[Any, Any, Any]):
    """Runs a tool again when it raises an error that may pass.

    Only for tools that may safely run twice: a failed attempt may have done its work before it
    failed. Name the tools in ``tools``, or give those that may not repeat an idempotency key of
    their own (the id of the call stays the same in all attempts).

    It does not cover: an error that the tool returns instead of raising, a ``ToolException`` that
    the tool handles itself, arguments that do not fit, or an unknown tool; the model is told of
    these. Interrupts pass at once and are no failures.
    """

    def __init__(
        self,
        *,
        max_retries: int = 2,
        tools: Sequence[BaseTool | str] | None = None,
        retry_on: RetryOn = default_retry_on,
        on_failure: OnFailure = "continue",
        backoff_factor: float = 2.0,
        initial_delay: float = 1.0,
        max_delay: float = 60.0,
        jitter: bool = True,
    ) -> None:
        """Set which tools are run again, when and how often.

        Args:
            max_retries: Attempts after the first.
            tools: Tools or their names; all if None.
            retry_on: Exception types, or a function of the error. Others are raised at once.
            on_failure: After the last attempt: ``"continue"`` answers the call with a text about
                the failure, ``"error"`` raises it, a function of the error returns the text.
            backoff_factor: Each wait is this many times the one before; 0 keeps it constant.
            initial_delay: Seconds before the first retry.
            max_delay: Longest wait in seconds. An error that asks for a longer one ends the
                attempts.
            jitter: Let waits vary by a quarter.

        Raises:
            ConfigurationError: A number is negative, or a setting is of the wrong kind.
        """
        old: Any = on_failure
        if isinstance(old, str) and old in _DEPRECATED:
            on_failure = _DEPRECATED[old]
            msg = f"on_failure={old!r} is deprecated; use on_failure={on_failure!r}."
            warnings.warn(msg, DeprecationWarning, stacklevel=2)
        super().__init__(
            RetryPolicy(
                max_retries=max_retries,
                retry_on=retry_on,
                on_failure=on_failure,
                backoff_factor=backoff_factor,
                initial_delay=initial_delay,
                max_delay=max_delay,
                jitter=jitter,
            )
        )
        self._tool_filter = tool_names(tools)
        self.tools = []

    def _flow(self, request: ToolCallRequest) -> Flow[ToolMessage | Command[Any]] | None:
        """Run the tool until it succeeds or the attempts are used up."""
        if not concerns(request, self._tool_filter):
            return None
        return retry_flow(request, self.policy, partial(self._give_up, request))

    wrap_tool_call, awrap_tool_call = flow_layer(_flow)

    def _give_up(self, request: ToolCallRequest, error: Exception, attempts: int) -> ToolMessage:
        if callable(self.on_failure):
            return error_answer(request, self.on_failure(error))
        failed = attempts_text(attempts, error, scrub(str(error)))
        text = (
            f"Tool {called_tool(request)!r} {failed}. The same call will likely fail again: change "
            "the arguments, or go on without it."
        )
        return error_answer(request, text)
