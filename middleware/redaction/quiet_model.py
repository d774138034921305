"""A chat model whose tokens no stream shows, because its reply is still to be checked."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGenerationChunk
from langgraph.constants import TAG_NOSTREAM

from .guarded_model import GuardedChatModel

_REMEMBERED = 16


class Unchanged:
    """A guard that changes nothing: it makes a chat model of any runnable."""

    def message(self, message: AIMessage) -> AIMessage:
        """The reply."""
        return message

    def pieces(self) -> Unchanged:
        """Itself: it keeps nothing."""
        return self

    def feed(self, chunk: ChatGenerationChunk) -> tuple[ChatGenerationChunk]:
        """The piece."""
        return (chunk,)

    def flush(self) -> tuple[()]:
        """Nothing is held back."""
        return ()


_UNCHANGED = Unchanged()


class QuietModels:
    """Quiet forms of models, made once per model.

    A stream of tokens leaves out runs with langgraph's tag, and shows the message whole when the
    node that asked is done.
    """

    def __init__(self) -> None:
        self._made: OrderedDict[int, tuple[Any, BaseChatModel]] = OrderedDict()

    def __call__(self, model: Any) -> BaseChatModel:
        """The quiet form of ``model``."""
        known = self._made.get(id(model))
        if known is not None and known[0] is model:
            return known[1]
        plain = (
            model
            if isinstance(model, BaseChatModel)
            else GuardedChatModel.around(model, _UNCHANGED)
        )
        quiet = plain.model_copy(update={"tags": [*(plain.tags or []), TAG_NOSTREAM]})
        self._made[id(model)] = (model, quiet)
        if len(self._made) > _REMEMBERED:
            self._made.popitem(last=False)
        return quiet
