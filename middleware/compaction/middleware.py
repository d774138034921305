"""Keeping a conversation within the model's context window."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from inspect import isgenerator
from typing import Any, cast

from langchain_core.messages import BaseMessage, RemoveMessage
from langchain_core.messages.utils import count_tokens_approximately
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from ...state.errors import ConfigurationError, RunError
from ...state.history import is_valid, repair_history
from ...tools.calls import AWAITING, BLOCKING, Calls, Dual, run_inline
from ..base import AgentMiddleware
from ..flows import Flow, adrive, drive
from ..internal_call_transformer import InternalCallTransformer
from ..token_counts import ContextMeter, TokenCounter, reanchored
from .contract import Compacted, Compactor, check_at_least

logger = logging.getLogger(__name__)


class CompactionMiddleware(AgentMiddleware[Any, Any, Any]):
    """Has a compactor shorten the conversation when it fills too much of the context window.

    Size is what the model reported with its last reply, which takes in system prompt and tools,
    and a count of what came since. A model that reports nothing is measured by a count of the
    messages, of which a turn adds only the new ones, and ``overhead_tokens``.

    The history is made valid before it is cut, and a result that is invalid or not smaller is not
    used. Several such middlewares may follow each other: the size is corrected after each cut.
    Between two cuts the beginning of the conversation stays as it is, for prompt caches.

    How much is lost is up to the compactor; this middleware keeps no copy.

    Source: the thresholds of Haystack 3.4.1's ``CompactionHook``.
    """

    transformers = (InternalCallTransformer,)

    def __init__(
        self,
        compactor: Compactor,
        context_window: int,
        *,
        compact_at: float = 0.7,
        compact_to: float = 0.4,
        token_counter: TokenCounter | None = None,
        overhead_tokens: int = 0,
    ) -> None:
        """Make the middleware.

        Args:
            compactor: Shortens the conversation.
            context_window: What the model takes in, in tokens.
            compact_at: The part of it at which the conversation is shortened. Leave room above it
                for a reply and the tool results that follow it.
            compact_to: The part that is aimed at.
            token_counter: Counts messages; by the length of their text if None.
            overhead_tokens: Size of the system prompt and the tools, for a model that does not
                report its usage.

        Raises:
            ConfigurationError: A number is out of range, or the compactor is none.
        """
        if not callable(getattr(compactor, "compact", None)):
            msg = f"compactor is {compactor!r}, which has no method compact; see Compactor."
            raise ConfigurationError(msg)
        check_at_least("context_window", context_window, 1)
        check_at_least("overhead_tokens", overhead_tokens, 0)
        if not 0 < compact_to < compact_at <= 1:
            msg = (
                f"compact_to is {compact_to!r} and compact_at {compact_at!r}; choose "
                "0 < compact_to < compact_at <= 1, or each turn would shorten again."
            )
            raise ConfigurationError(msg)
        self.compactor = compactor
        self.context_window = context_window
        self.compact_at = compact_at
        self.compact_to = compact_to
        self.token_counter = token_counter or count_tokens_approximately
        self.overhead_tokens = overhead_tokens
        self._meter = ContextMeter(self.token_counter)

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002
        """Shorten the conversation, if it is time."""
        size = self._size_if_due(state["messages"])
        if size is None:
            return None
        return run_inline(self._shorten(state["messages"], size, BLOCKING), self.name)

    async def abefore_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002
        """Shorten the conversation, if it is time."""
        size = self._size_if_due(state["messages"])
        return None if size is None else await self._shorten(state["messages"], size, AWAITING)

    def _size_if_due(self, messages: list[BaseMessage]) -> int | None:
        """The tokens of a conversation that is to be shortened."""
        limit = self.context_window * self.compact_at
        extra = self.overhead_tokens
        most = self._meter.at_most(messages)
        if most is not None and most + extra < limit:
            return None
        if extra and self._meter.reported(messages) is not None:
            extra = 0
        if self._meter.estimate(messages) + extra < limit:
            return None
        size = self._meter.confirm(messages) + extra
        return None if size < limit else size

    async def _shorten(
        self, messages: list[BaseMessage], size: int, calls: Calls
    ) -> dict[str, Any] | None:
        overhead = size - self.token_counter(messages)
        if overhead < 0:
            logger.warning(
                "The token counter makes the messages %d tokens larger than what the model "
                "reported for the whole request; use a more accurate one.",
                -overhead,
            )
        target = max(int(self.context_window * self.compact_to) - overhead, 0)
        valid = repair_history(messages).messages
        compacted = await self._compacted(valid, target, calls)
        if compacted is None:
            return None
        return {"messages": _update(messages, reanchored(valid, compacted, self.token_counter))}

    async def _compacted(self, messages: list[BaseMessage], target: int, calls: Calls) -> Compacted:
        """What the compactor makes of the conversation, if it keeps the rules."""
        name = type(self.compactor).__name__
        compact = Dual.of(self.compactor.compact, name)
        made: Any = await calls.call(compact, messages, target, self.token_counter)
        if isgenerator(made):
            flow = cast("Flow[Compacted]", made)
            made = drive(flow, _refuse) if calls.synchronous else await adrive(flow, _refuse)
        if made is None:
            return None
        compacted = cast("list[BaseMessage]", made)
        if not is_valid(compacted) or self.token_counter(compacted) >= self.token_counter(messages):
            logger.warning("%s returned a conversation that is invalid or not smaller.", name)
            return None
        return compacted


def _refuse(request: Any) -> Any:
    msg = f"A compactor yielded {request!r}; it can yield Ask objects only."
    raise RunError(msg)


def _update(before: Sequence[BaseMessage], after: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The messages to write: the changed ones where none was added or removed, else all."""
    ids = [message.id for message in before]
    if None not in ids and ids == [message.id for message in after]:
        return [new for old, new in zip(before, after, strict=True) if new is not old]
    return [RemoveMessage(REMOVE_ALL_MESSAGES), *after]
