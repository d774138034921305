"""A structured answer shown while the model writes it, to readers of the ``custom`` stream."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from langchain_core.messages import (
    AIMessageChunk,
    BaseMessage,
    BaseMessageChunk,
    message_chunk_to_message,
)
from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.runtime import Runtime

from ..tools.calls import Calls, Dual
from .structured_output import ActiveOutput


class StructuredPartial(TypedDict):
    """What the ``custom`` stream holds whenever the answer has grown."""

    type: Literal["structured_partial"]
    id: str | None
    """Id of the reply: every request of the model has its own."""
    attempt: int
    """How many answers of the run were refused so far, and one. Where it goes up, what was shown
    of the attempt before is void."""
    schema: str
    """Name of the schema that the answer is meant for."""
    value: Any
    """The answer so far as JSON values, seen by no schema and no guardrail: it may turn out to be
    wrong, or to be nothing that may be shown."""


def custom_writer(runtime: Runtime[Any]) -> Callable[[Any], None] | None:
    """What writes to the ``custom`` stream, or None where nobody reads it."""
    writer = runtime.stream_writer
    # The writer that langgraph gives where the mode is off (1.2.24) holds on to nothing.
    engines = getattr(writer, "__module__", "").startswith("langgraph.")
    return None if engines and getattr(writer, "__closure__", None) is None else writer


@dataclass(frozen=True)
class PartialStream:
    """Asks a model by its stream, and tells what of the answer has come."""

    tell: Callable[[StructuredPartial], object]
    """Writes to the stream."""
    calls: Calls

    async def ask(
        self,
        model: Runnable[Any, Any],
        messages: Sequence[BaseMessage],
        config: RunnableConfig | None,
        active: ActiveOutput,
        attempt: int,
    ) -> Any:
        """Give the whole reply, as ``invoke`` would.

        Args:
            model: The model with everything bound.
            messages: What it is sent.
            config: For its callbacks.
            active: Which answer is due.
            attempt: Number of the attempt, from 1.
        """
        stream: Any = (model.stream if self.calls.synchronous else model.astream)(messages, config)
        step = Dual("the model's stream", lambda: next(stream, None), lambda: anext(stream, None))
        growing, shown = active.growing(), None
        chunks: list[Any] = []
        try:
            while (chunk := await self.calls.call(step)) is not None:
                chunks.append(chunk)
                if not isinstance(chunk, AIMessageChunk):
                    continue
                value = growing.add(chunk)
                if value is not None and value != shown:
                    shown = value
                    name = growing.schema_name
                    self.tell(
                        StructuredPartial(
                            type="structured_partial",
                            id=chunk.id,
                            attempt=attempt,
                            schema=name,
                            value=value,
                        )
                    )
        finally:
            await self.calls.call(_closing(stream))
        return whole_reply(chunks)


def whole_reply(chunks: Sequence[Any]) -> Any:
    """Give the sum of chunks as a message; what is no chunk stays as it is, None without any."""
    if not chunks:
        return None
    first, *others = chunks
    if not isinstance(first, BaseMessageChunk):
        return chunks[-1]
    # In one go: a sum after each chunk would take time quadratic in the length of the reply.
    whole: Any = first + others if others else first
    return message_chunk_to_message(whole)


def _closing(stream: Any) -> Dual:
    """What ends a stream early, where it can be ended."""

    async def nothing() -> None:
        pass

    close = getattr(stream, "close", lambda: None)
    return Dual("the end of the model's stream", close, getattr(stream, "aclose", nothing))
