"""A chat model whose replies are changed before anybody hears of them.

Token streams, traces and callbacks of every kind learn of a reply from the chat model's own run.
So the guard is put there: the inner model is asked without callbacks, and the outer one reports
what it gives out, changed. Nothing depends on who listens, or how.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from operator import is_
from typing import Any, Protocol, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableBinding
from pydantic import Field

from .unheard import silent_model, streams

_TAKEN_OVER = (
    "cache",
    "callbacks",
    "custom_get_token_ids",
    "disable_streaming",
    "metadata",
    "output_version",
    "profile",
    "rate_limiter",
    "tags",
    "verbose",
)
"""Settings that langchain-core reads off the model it calls."""


class ReplyPieces(Protocol):
    """Changes one reply that comes in pieces."""

    def feed(self, chunk: ChatGenerationChunk, /) -> Iterable[ChatGenerationChunk]:
        """What may be given out after one more piece."""
        ...

    def flush(self) -> Iterable[ChatGenerationChunk]:
        """What is left when no more pieces come."""
        ...


class ReplyGuard(Protocol):
    """Changes replies. One guard serves all runs."""

    def message(self, message: AIMessage, /) -> AIMessage:
        """A whole reply, changed."""
        ...

    def pieces(self) -> ReplyPieces:
        """Changes the next reply, in pieces."""
        ...


class GuardedChatModel(BaseChatModel):
    """Passes requests on to a model and gives its replies out through a guard."""

    inner: Any = Field(repr=False)
    """A chat model, or another runnable that answers messages with a message."""
    guard: Any
    """The ``ReplyGuard``."""

    @classmethod
    def around(cls, inner: Any, guard: ReplyGuard) -> GuardedChatModel:
        """A model that looks like ``inner`` to those who ask what it is."""
        fields: dict[str, Any] = {"inner": inner, "guard": guard}
        if isinstance(inner, BaseChatModel):
            fields |= {name: getattr(inner, name) for name in _TAKEN_OVER}
            if not streams(inner) or getattr(inner, "streaming", None) is False:
                fields["disable_streaming"] = True
            fields["name"] = inner.get_name()
        return cls(**fields)

    @property
    def _llm_type(self) -> str:
        return str(getattr(self.inner, "_llm_type", "runnable"))

    @property
    def _identifying_params(self) -> dict[str, Any]:
        inner = dict(getattr(self.inner, "_identifying_params", {}))
        return {**inner, "guard": repr(self.guard)}

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> Any:
        if isinstance(self.inner, BaseChatModel):
            return self.inner._get_ls_params(stop=stop, **kwargs)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
        return super()._get_ls_params(stop=stop, **kwargs)

    def __getattr__(self, name: str) -> Any:
        """What else the inner model tells about itself, such as ``model_name``."""
        inner = self.__dict__.get("inner")
        if name.startswith("_") or inner is None:
            msg = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(msg)
        return getattr(inner, name)

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        """Bind tools in the inner model's own notation."""
        bound = self.inner.bind_tools(tools, **kwargs)
        if isinstance(bound, RunnableBinding):
            binding = cast("RunnableBinding[Any, Any]", bound)
            plain = not binding.config and not binding.config_factories
            if binding.bound is self.inner and plain:
                return self.bind(**binding.kwargs)
        return GuardedChatModel.around(bound, self.guard)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,  # noqa: ARG002 - the inner model must not report
        **kwargs: Any,
    ) -> ChatResult:
        silent: Any = silent_model(self.inner)
        return guarded_result(silent._generate(messages, stop=stop, **kwargs), self.guard)  # noqa: SLF001

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,  # noqa: ARG002
        **kwargs: Any,
    ) -> ChatResult:
        silent: Any = silent_model(self.inner)
        return guarded_result(await silent._agenerate(messages, stop=stop, **kwargs), self.guard)  # noqa: SLF001

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,  # noqa: ARG002
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        silent: Any = silent_model(self.inner)
        yield from guarded_chunks(silent._stream(messages, stop=stop, **kwargs), self.guard)  # noqa: SLF001

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,  # noqa: ARG002
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        pieces = self.guard.pieces()
        silent: Any = silent_model(self.inner)
        async for chunk in silent._astream(messages, stop=stop, **kwargs):  # noqa: SLF001
            for shown in pieces.feed(chunk):
                yield shown
        for shown in pieces.flush():
            yield shown


def guarded_result(result: ChatResult, guard: ReplyGuard) -> ChatResult:
    """A model's result with its messages changed, and nothing that spells them out beside them."""
    generations = [_guarded(generation, guard) for generation in result.generations]
    if all(map(is_, generations, result.generations)):
        return result
    return ChatResult(generations=generations, llm_output=result.llm_output)


def _guarded(generation: ChatGeneration, guard: ReplyGuard) -> ChatGeneration:
    """A reply with its message changed; the same object if nothing is."""
    message = guard.message(cast("AIMessage", generation.message))
    info = without_logprobs(generation.generation_info)
    if message is generation.message and info is generation.generation_info:
        return generation
    return ChatGeneration(message=message, generation_info=info)


def guarded_chunks(
    chunks: Iterable[ChatGenerationChunk], guard: ReplyGuard
) -> Iterator[ChatGenerationChunk]:
    """The pieces of one reply, changed."""
    pieces = guard.pieces()
    for chunk in chunks:
        yield from pieces.feed(chunk)
    yield from pieces.flush()


def without_logprobs(info: dict[str, Any] | None) -> dict[str, Any] | None:
    """Generation info without the probabilities of tokens, which name the tokens."""
    if info is None or "logprobs" not in info:
        return info
    return {k: v for k, v in info.items() if k != "logprobs"}
