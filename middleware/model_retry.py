"""Calling the model again when a call fails."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage

from ..tools.error_text import scrub
from .base import AgentMiddleware, hook_config
from .flows import Flow, flow_layer
from .request import ModelRequest, ModelResponse
from .retry_hints import default_retry_on
from .retrying import OnFailure, Retrying, RetryOn, RetryPolicy, attempts_text, retry_flow

MODEL_FAILED = "model_failed"
"""Exit reason of a run whose answer is the text about a failed model call."""

_MARK = "interlock_failed_attempts"


class ModelRetryMiddleware(Retrying, AgentMiddleware[Any, Any, Any]):
    """Calls the model again when a call fails in a way that may pass.

    By default the error's family decides (``ModelError.is_retryable``), then its HTTP status; an
    error that says neither is tried again. A wait that the provider asks for is kept to. When the
    attempts are used up, ``on_failure="continue"`` makes the failure the answer of the run, which
    then ends with the exit reason ``model_failed``.

    It does not cover: an answer that arrives and is wrong (structured output has its own retries,
    a refusal needs ``ModelRefusalMiddleware`` inside this one); tokens that a failed attempt has
    already streamed, which the caller has seen; the time an attempt takes, for which the model
    has a timeout. Retries of the provider's own client multiply with these.
    """

    def __init__(
        self,
        *,
        max_retries: int = 2,
        retry_on: RetryOn = default_retry_on,
        on_failure: OnFailure = "continue",
        backoff_factor: float = 2.0,
        initial_delay: float = 1.0,
        max_delay: float = 60.0,
        jitter: bool = True,
    ) -> None:
        """Set when and how often to try again.

        Args:
            max_retries: Attempts after the first.
            retry_on: Exception types, or a function of the error. Others are raised at once.
            on_failure: After the last attempt: ``"continue"`` answers with a text about the
                failure, ``"error"`` raises it, a function of the error returns the text.
            backoff_factor: Each wait is this many times the one before; 0 keeps it constant.
            initial_delay: Seconds before the first retry.
            max_delay: Longest wait in seconds. A provider that asks for a longer one ends the
                attempts.
            jitter: Let waits vary by a quarter.

        Raises:
            ConfigurationError: A number is negative, or a setting is of the wrong kind.
        """
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
        self.tools = []

    @hook_config(quick=True)
    def after_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002
        """End a run whose model has failed for good."""
        last = state["messages"][-1] if state["messages"] else None
        if isinstance(last, AIMessage) and _MARK in last.response_metadata:
            return {"stop_run": MODEL_FAILED}
        return None

    def _flow(self, request: ModelRequest[Any]) -> Flow[ModelResponse[Any]]:
        """Call the model until it answers or the attempts are used up."""
        return retry_flow(request, self.policy, self._give_up)

    wrap_model_call, awrap_model_call = flow_layer(_flow)

    def _give_up(self, error: Exception, attempts: int) -> ModelResponse[Any]:
        if callable(self.on_failure):
            text = self.on_failure(error)
        else:
            text = f"Model call {attempts_text(attempts, error, scrub(str(error)))}"
        return ModelResponse([AIMessage(text, response_metadata={_MARK: attempts})])
