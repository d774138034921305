"""Asking a chat model without langchain-core's bookkeeping, where nobody would read it.

``BaseChatModel.invoke`` prepares callbacks, tracing and caching for each call: more work than a
scripted model's answer. When no handler listens, no cache and no limiter is set and no layer may
look, the model's own ``_generate`` gives the same message. Anything unusual takes the public way.
"""

from __future__ import annotations

import uuid
from typing import Any, cast

from langchain_core.globals import get_debug, get_llm_cache, get_verbose
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatResult
from langchain_core.runnables import Runnable, RunnableBinding
from langchain_core.tracers.context import (
    _configure_hooks,  # pyright: ignore[reportPrivateUsage] - a test holds what it is used for
    tracing_v2_callback_var,
)

from ..middleware.spending import METER
from ..state.reducers import CONTENT
from ..tools.calls import Dual

_PUBLIC_ONLY = frozenset({"stream", "ls_structured_output_format", "structured_output_format"})
"""Arguments that langchain-core takes for itself."""

_WAYS_IN = ("invoke", "ainvoke", "generate", "agenerate", "generate_prompt", "agenerate_prompt")


def direct_call(bound: Runnable[Any, Any]) -> Dual | None:
    """The short way to ask a bound model, or None if only the public one is right.

    Args:
        bound: A chat model, or one with arguments bound.
    """
    arguments: dict[str, Any] = {}
    model: Any = bound
    if isinstance(bound, RunnableBinding) and type(bound).__module__.startswith("langchain_core."):
        binding = bound
        if binding.config or binding.config_factories:
            return None
        model, arguments = binding.bound, dict(binding.kwargs)
    if (
        not isinstance(model, BaseChatModel)
        or not _is_plain(model)
        or _PUBLIC_ONLY & set(arguments)
    ):
        return None
    stop = arguments.pop("stop", None)

    def ask(messages: list[BaseMessage]) -> AIMessage:
        result = model._generate(messages, stop=stop, **arguments)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
        return _metered(_message_of(result))

    async def ask_later(messages: list[BaseMessage]) -> AIMessage:
        result = await model._agenerate(messages, stop=stop, **arguments)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
        return _metered(_message_of(result))

    return Dual("model", ask, ask_later)


def may_call_directly(messages: list[BaseMessage], *, layered: bool) -> bool:
    """Whether nothing outside the model asks for the public way, and the messages are plain text.

    langchain-core converts older forms of content blocks before it hands messages on.

    Args:
        messages: What is to be sent.
        layered: A layer is around the call, which may have begun to listen in its own way, as
            ``get_usage_metadata_callback`` does.
    """
    return (
        get_llm_cache() is None
        and not (layered and _somebody_listens())
        and not get_debug()
        and not get_verbose()
        and (
            set(map(type, map(CONTENT, messages))) <= {str} or all(map(_is_text, _blocks(messages)))
        )
    )


def _blocks(messages: list[BaseMessage]) -> list[list[Any]]:
    """The contents that are lists of blocks."""
    contents: list[Any] = [*map(CONTENT, messages)]
    return [content for content in contents if type(content) is not str]


def _is_text(blocks: list[Any]) -> bool:
    """Whether content consists of text blocks, which have one form only."""
    return all(type(b) is str or (type(b) is dict and b.get("type") == "text") for b in blocks)


def _somebody_listens() -> bool:
    """Whether a context manager has set up a handler for the calls made inside it."""
    return tracing_v2_callback_var.get() is not None or any(
        variable is not METER and variable.get() is not None for variable, *_ in _configure_hooks
    )


def _is_plain(model: BaseChatModel) -> bool:
    """Whether the public way adds nothing for this model."""
    kind = type(model)
    return (
        all(getattr(kind, way) is getattr(BaseChatModel, way) for way in _WAYS_IN)
        and not model.callbacks
        and not model.verbose
        and not model.cache
        and model.rate_limiter is None
        and not getattr(model, "streaming", False)
        and getattr(model, "output_version", None) in (None, "v0")
        and "_generate_with_cache" not in vars(kind)
    )


def _metered(reply: AIMessage) -> AIMessage:
    """The reply, told to the meter of a budget, which has no callback to hear of it."""
    if (meter := METER.get()) is not None:
        meter.hear(reply)
    return reply


def _message_of(result: ChatResult) -> AIMessage:
    """The message of a result with what langchain-core would have put on it."""
    generation = result.generations[0]
    message = cast("AIMessage", generation.message)
    if message.id is None:
        message.id = f"lc_run--{uuid.uuid4()}-0"
    info: dict[str, Any] = {**(result.llm_output or {}), **(generation.generation_info or {})}
    if info:
        message.response_metadata = {**info, **message.response_metadata}
    return message
