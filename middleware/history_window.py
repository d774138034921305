"""The newest rounds of a thread: what the model reads of it, while the thread keeps everything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langgraph.runtime import Runtime

from ..state.errors import ConfigurationError
from .base import AgentMiddleware
from .cut_points import is_real_user, is_summary, leading_system, safe_cut
from .flows import request_layer
from .request import ModelRequest

LAST_K = 10
"""Earlier rounds that a model reads where nothing else is said. Source: Haystack's chat store."""


_KINDS = frozenset({AIMessage, HumanMessage, SystemMessage, ToolMessage})
"""The messages of most conversations; a person writes none but one of them."""


def last_rounds(messages: Sequence[BaseMessage], count: int) -> list[BaseMessage]:
    """The current round of a conversation and the ``count`` rounds before it.

    A round is what a person wrote and everything up to the next message of a person: replies,
    tool calls and their results. Leading system messages, and a summary behind them, stay.

    Args:
        messages: A valid conversation, oldest first. Only what is kept is looked at.
        count: Earlier rounds; 0 for none.
    """
    kinds = [*map(type, messages)]
    if kinds.count(HumanMessage) <= count and set(kinds) <= _KINDS:
        return list(messages)
    start = len(messages)
    for position in range(len(messages) - 1, -1, -1):
        if is_real_user(messages[position]) and not _goes_on(messages, position):
            start = position
            count -= 1
            if count < 0:
                break
    head = leading_system(messages)
    while head < len(messages) and is_summary(messages[head]):
        head += 1
    start = safe_cut(messages, start) if count < 0 else 0
    return [*messages[:head], *messages[start:]] if start > head else list(messages)


def _goes_on(messages: Sequence[BaseMessage], position: int) -> bool:
    """Whether a person wrote the message before it, too."""
    return position > 0 and is_real_user(messages[position - 1])


class HistoryWindowMiddleware(AgentMiddleware[Any, Any, Any]):
    """Sends the model the last rounds of a thread only; the thread itself stays whole.

    The current round is always sent, with all its tool calls and results, and no call is parted
    from its result. It bounds the number of rounds, not their size: for a context window, see
    ``CompactionMiddleware``. What is left out is forgotten for this call, without a note.
    """

    def __init__(self, last_k: int | Callable[[Runtime[Any]], int] = LAST_K) -> None:
        """Set the window.

        Args:
            last_k: Rounds before the current one that the model reads, 0 for none; or a function
                of the runtime that gives the number for a run, from ``runtime.context`` say.

        Raises:
            ConfigurationError: It is neither a whole number from 0 on nor a function.
        """
        self.last_k = last_k if callable(last_k) else _checked(last_k)

    def _windowed(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        """Leave older rounds out of the request."""
        last_k = self.last_k
        count = _checked(last_k(request.runtime)) if callable(last_k) else last_k
        messages = cast("list[BaseMessage]", request.messages)
        kept = last_rounds(messages, count)
        return request if len(kept) == len(messages) else request.override(messages=kept)

    wrap_model_call, awrap_model_call = request_layer(_windowed)


def _checked(last_k: Any) -> int:
    if isinstance(last_k, int) and not isinstance(last_k, bool) and last_k >= 0:
        return last_k
    msg = f"last_k is {last_k!r}; give a whole number of rounds from 0 on."
    raise ConfigurationError(msg)
