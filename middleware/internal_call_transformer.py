"""Model calls that a middleware makes for itself, and keeping them out of streams.

A middleware that asks a model passes :func:`internal_config` with the call and declares
``transformers = (InternalCallTransformer,)``: neither tokens nor messages of that call then reach
``stream_mode="messages"`` or the messages of ``stream_events(version="v3")``.
"""

from __future__ import annotations

import secrets
from typing import Any, ClassVar

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.constants import TAG_NOSTREAM
from langgraph.stream import ProtocolEvent, StreamTransformer

INTERNAL_CALL_METADATA_KEY = "lc_internal_call"
"""Key of a call's metadata that marks it as internal."""

# Metadata of a run also reach its ordinary model calls, so with a mark that can be guessed a
# caller could make an agent's answers disappear.
_INTERNAL_CALL_TOKEN = secrets.token_hex(16)


def internal_call_metadata() -> dict[str, Any]:
    """Metadata that mark a model call as a middleware's own."""
    return {INTERNAL_CALL_METADATA_KEY: _INTERNAL_CALL_TOKEN}


def internal_config(source: str) -> RunnableConfig:
    """The config for a middleware's own model call.

    Args:
        source: What the call is for, kept as ``lc_source`` in its metadata.
    """
    return {
        "metadata": {"lc_source": source, **internal_call_metadata()},
        "tags": [TAG_NOSTREAM],
    }


class InternalCallTransformer(StreamTransformer):
    """Drops the events of internal calls from a stream of protocol events.

    Only events of its own namespace are touched: a subgraph's are the subgraph's to filter.
    """

    before_builtins: ClassVar[bool] = True
    required_stream_modes: ClassVar[tuple[str, ...]] = ("messages",)

    def __init__(self, scope: tuple[str, ...] = ()) -> None:
        super().__init__(scope)
        self._namespace = list(scope)

    def init(self) -> dict[str, Any]:
        """No projection: this transformer only takes away."""
        return {}

    def process(self, event: ProtocolEvent) -> bool:
        """Whether an event stays in the raw log; an internal one is also hidden from projections."""
        params = event["params"]
        if event["method"] != "messages" or params["namespace"] != self._namespace:
            return True
        payload, metadata = params["data"]
        if (metadata or {}).get(INTERNAL_CALL_METADATA_KEY) != _INTERNAL_CALL_TOKEN:
            return True
        # The projection of messages sees the event even if it is dropped from the log; it passes
        # over messages of tools and over events without a message (langgraph 1.2.24).
        if isinstance(payload, dict) and payload.get("event") == "message-start":
            payload["role"] = "tool"
        elif isinstance(payload, BaseMessage):
            params["data"] = (None, metadata)
        return False
