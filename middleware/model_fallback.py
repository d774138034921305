"""Another model where one fails."""

from __future__ import annotations

from typing import Any

from langchain_core.language_models import BaseChatModel
from langgraph.errors import GraphBubbleUp

from .base import AgentMiddleware
from .cache_marks import portable_request as _sanitize_request_for_fallback
from .chat_model_check import checked_model
from .flows import Flow, flow_layer
from .model_names import init_chat_model
from .request import ModelRequest, ModelResponse


class ModelFallbackMiddleware(AgentMiddleware[Any, Any, Any]):
    """Sends a model call to other models, in order, when it fails.

    Every error counts, a refusal that ``ModelRefusalMiddleware`` (listed after this one) raises
    too. Marks for the prompt cache of one provider are taken out before a model of another one is
    asked. If all fail, the last error is raised, with the earlier ones in its notes.

    It does not cover: an answer that is merely bad; tokens that a failed model has already
    streamed; waiting before another attempt, for which ``ModelRetryMiddleware`` is listed after
    this one; remembering across calls that a model is down, so each call asks the first one again.
    Content blocks that only one provider reads, such as signed reasoning, are passed as they are.
    """

    def __init__(
        self, first_model: str | BaseChatModel, *additional_models: str | BaseChatModel
    ) -> None:
        """Name the models to fall back to.

        Args:
            first_model: Asked when the agent's model fails; a chat model or ``"provider:name"``.
            *additional_models: Asked after it, in order.

        Raises:
            ConfigurationError: One is no model, or its name means nothing.
        """
        self.models: list[BaseChatModel] = [
            init_chat_model(m) if isinstance(m, str) else checked_model(m, "A fallback model")
            for m in (first_model, *additional_models)
        ]

    def _flow(self, request: ModelRequest[Any]) -> Flow[ModelResponse[Any]]:
        """Ask one model after the other until one answers."""
        failures: list[Exception] = []
        for model in (None, *self.models):
            # Outside of the try: a fault of ours is not to be taken for one of the model's.
            attempt = request
            if model is not None:
                attempt = _sanitize_request_for_fallback(request, model).override(model=model)
            try:
                return (yield attempt)  # type: ignore[no-any-return] # what the handler answered
            except GraphBubbleUp:
                raise
            except Exception as error:  # noqa: BLE001 - whatever the last one raises is raised
                failures.append(error)
        last = failures.pop()
        for number, earlier in enumerate(failures, 1):
            last.add_note(f"Model {number} failed before with {type(earlier).__name__}: {earlier}")
        raise last

    wrap_model_call, awrap_model_call = flow_layer(_flow)
