"""Asking a model so that no callback, tracer or stream hears of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langsmith import run_helpers

_SILENT: dict[str, Any] = {"callbacks": []}
_tracing_context: Any = cast("Any", run_helpers).tracing_context


def silent_model(inner: Any) -> BaseChatModel | SilentRunnable:
    """``inner`` with the four methods of a chat model that report nothing by themselves."""
    return inner if isinstance(inner, BaseChatModel) else SilentRunnable(inner)


def streams(inner: Any) -> bool:
    """Whether a model can give its reply in pieces, in either form."""
    if not isinstance(inner, BaseChatModel):
        return True
    own = type(inner)
    return any(getattr(own, n) is not getattr(BaseChatModel, n) for n in ("_stream", "_astream"))


class SilentRunnable:
    """A runnable that answers like a chat model and keeps its runs to itself.

    The environment can switch tracing on for every run; it is switched off here, because a
    runnable cannot be asked without beginning runs.
    """

    def __init__(self, inner: Runnable[Any, Any]) -> None:
        self._inner = inner

    def _generate(self, messages: list[BaseMessage], **arguments: Any) -> ChatResult:
        with _tracing_context(enabled=False):
            return _result(self._inner.invoke(messages, cast("Any", _SILENT), **_given(arguments)))

    async def _agenerate(self, messages: list[BaseMessage], **arguments: Any) -> ChatResult:
        with _tracing_context(enabled=False):
            answer = await self._inner.ainvoke(messages, cast("Any", _SILENT), **_given(arguments))
        return _result(answer)

    def _stream(
        self, messages: list[BaseMessage], **arguments: Any
    ) -> Iterator[ChatGenerationChunk]:
        with _tracing_context(enabled=False):
            yield from map(
                _chunk, self._inner.stream(messages, cast("Any", _SILENT), **_given(arguments))
            )

    async def _astream(
        self, messages: list[BaseMessage], **arguments: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        with _tracing_context(enabled=False):
            pieces = self._inner.astream(messages, cast("Any", _SILENT), **_given(arguments))
            async for piece in pieces:
                yield _chunk(piece)


def _given(arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if name != "stop" or value is not None}


def _message(answer: Any) -> AIMessage:
    return (
        answer if isinstance(answer, AIMessage) else AIMessage(getattr(answer, "content", answer))
    )


def _result(answer: Any) -> ChatResult:
    return ChatResult(generations=[ChatGeneration(message=_message(answer))])


def _chunk(piece: Any) -> ChatGenerationChunk:
    if isinstance(piece, AIMessageChunk):
        return ChatGenerationChunk(message=piece)
    whole = _message(piece)
    return ChatGenerationChunk(
        message=AIMessageChunk(
            content=cast("Any", whole.content),
            additional_kwargs=whole.additional_kwargs,
            response_metadata=whole.response_metadata,
            tool_calls=whole.tool_calls,
            invalid_tool_calls=whole.invalid_tool_calls,
            usage_metadata=whole.usage_metadata,
            id=whole.id,
        )
    )
