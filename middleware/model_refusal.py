"""A refusal of the model as an error instead of an answer."""

from __future__ import annotations

from typing import Any, cast

from langchain_core.exceptions import ModelRefusalError
from langchain_core.messages import AIMessage, BaseMessage
from langgraph.types import TracePolicy, omit_payload

from ..state.errors import StructuredOutputError
from ..state.finish import refusal_text
from .base import AgentMiddleware
from .flows import Flow, flow_layer
from .request import ModelRequest, ModelResponse


class ModelRefusalMiddleware(AgentMiddleware[Any, Any, Any]):
    """Raises langchain-core's ``ModelRefusalError`` when a reply holds a refusal.

    Without it a refusal is an ordinary answer. List it after ``ModelFallbackMiddleware``, so that
    another model is asked, and after ``ModelRetryMiddleware``, which does not repeat a refusal.
    A refusal where a structured answer is due is told as a refusal, not as invalid output.

    A refusal is what the provider marks as one: a block of that type, ``refusal`` beside the content
    of a reply, or what langchain-core reads as one for the provider.

    It does not cover: a refusal that the model puts in ordinary words; text that was streamed
    before the refusal was known; a reply that a filter of the provider cut off, or answered with an
    error of its own.
    """

    trace_policy = TracePolicy(process_inputs=omit_payload)

    def _flow(self, request: ModelRequest[Any]) -> Flow[ModelResponse[Any]]:
        """Raise if the reply is a refusal."""
        try:
            response: ModelResponse[Any] = yield request
        except StructuredOutputError as error:
            if isinstance(error.ai_message, BaseMessage):
                _raise_if_refused(error.ai_message)
            raise
        for message in response.result:
            _raise_if_refused(message)
        return response

    wrap_model_call, awrap_model_call = flow_layer(_flow)


def _raise_if_refused(message: BaseMessage) -> None:
    if not isinstance(message, AIMessage):
        return
    words = refusal_text(message)
    # Without a provider langchain-core reads no refusal out of plain text, and the blocks of a
    # message are dear to make.
    if not isinstance(message.content, str) or "model_provider" in message.response_metadata:
        for block in cast("list[Any]", message.content_blocks):
            if block["type"] == "refusal":
                raise ModelRefusalError.from_refusal(block, raw_message=message)
    if words is not None:
        found: Any = {"type": "refusal", "refusal": words}
        raise ModelRefusalError.from_refusal(found, raw_message=message)
