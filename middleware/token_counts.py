"""How large a conversation is, without counting all of it at each turn.

Two sources are cheap: what the model reported with its last reply, and the count of the same
conversation one turn ago. Only what came since is counted.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from threading import Lock
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.messages.utils import count_tokens_approximately

from ..state.history import last_ai_message

TokenCounter = Callable[[Sequence[BaseMessage]], int]
"""Tokens of a list of messages. The counts of two lists should add up to that of both."""

CONTEXT_TOKENS = "context_tokens"
"""Key of a reply's ``response_metadata``: the size of the conversation up to it since older
messages were cut, when the usage that the model reported no longer tells it."""

_ANTHROPIC_CHARS_PER_TOKEN = 3.3
_REMEMBERED = 256
_MOST_BESIDE = 32
"""Tokens of a message, at most, besides its content, name and call id: its role and a few more."""


def approximate_counter(model: Any, count: Callable[..., int]) -> TokenCounter:
    """``count_tokens_approximately`` with the settings that fit a model.

    Args:
        model: The chat model whose tokens are counted.
        count: ``count_tokens_approximately``, or what stands in for it.

    Source: LangChain 1.5.2, which measured 3.3 characters per token for Anthropic's models.
    """
    settings: dict[str, Any] = {"use_usage_metadata_scaling": True}
    if str(getattr(model, "_llm_type", "")).startswith("anthropic-chat"):
        settings["chars_per_token"] = _ANTHROPIC_CHARS_PER_TOKEN
    return partial(count, **settings)


def unscaled(counter: TokenCounter) -> TokenCounter:
    """The counter for parts of a conversation: without scaling to the usage of the whole."""
    settings: Any = getattr(counter, "keywords", {})
    if "use_usage_metadata_scaling" not in settings:
        return counter
    return partial(counter, use_usage_metadata_scaling=False)  # type: ignore[call-arg]


def reported_tokens(reply: AIMessage) -> int | None:
    """Tokens of the conversation up to and with ``reply``, as the model reported them."""
    corrected: Any = reply.response_metadata.get(CONTEXT_TOKENS)
    if isinstance(corrected, int):
        return corrected
    usage = reply.usage_metadata
    if not usage:
        return None
    return usage.get("input_tokens", 0) + usage.get("output_tokens", 0) or None


class ContextMeter:
    """Measures conversations that grow turn by turn.

    The last conversations are remembered by the identity of their last message, so a turn counts
    only new messages; nothing is stored with the thread. After a restart, and in a new run of a
    stored thread, the first count is a full one unless the model reports its usage.
    """

    def __init__(
        self,
        counter: TokenCounter = count_tokens_approximately,
        trusts: Callable[[AIMessage], bool] = lambda _: True,
        remembered: int = 256,
    ) -> None:
        """Make a meter.

        Args:
            counter: Counts what no model has reported.
            trusts: Whether the usage reported with a reply counts.
            remembered: How many conversations are remembered.
        """
        self.counter = counter
        self._kind = _kind_of(counter)
        self._goes_by_length = _goes_by_length(counter)
        self._trusts = trusts
        self._limit = remembered
        self._known: OrderedDict[int, tuple[weakref.ref[BaseMessage], int, str, int]] = (
            OrderedDict()
        )
        self._lock = Lock()

    def estimate(self, messages: Sequence[BaseMessage], view: str = "") -> int:
        """Tokens of a request with these messages.

        It is wrong by what replaced messages in the middle differ in size, until
        :meth:`confirm` counts them all.

        Args:
            messages: The conversation, oldest first.
            view: Tells apart conversations that end with the same message.
        """
        reported = self.reported(messages)
        return self._counted(messages, view) if reported is None else reported

    def confirm(self, messages: Sequence[BaseMessage], view: str = "") -> int:
        """Tokens of a request with these messages, everything counted that is not reported."""
        reported = self.reported(messages)
        if reported is not None:
            return reported
        total = self.counter(messages)
        self._remember(messages, view, total)
        return total

    def at_most(self, messages: Sequence[BaseMessage]) -> int | None:
        """A number that :meth:`estimate` does not exceed, found without counting; None if unknown.

        A character is at most a token. Most conversations are far from any limit, so there is
        nothing to count in them.
        """
        known = self._known_from_reply(messages)
        if known is None or not self._goes_by_length:
            return None
        tokens, rest = known
        for message in rest:
            content: Any = message.content
            if type(content) is not str or isinstance(message, AIMessage):
                return None
            tokens += len(content) + len(message.name or "") + _MOST_BESIDE
            if isinstance(message, ToolMessage):
                tokens += len(message.tool_call_id)
        return tokens

    def reported(self, messages: Sequence[BaseMessage]) -> int | None:
        """What the model reported with the last reply and the count of what follows it."""
        known = self._known_from_reply(messages)
        if known is None:
            return None
        tokens, rest = known
        return tokens + _count_once(self.counter, self._kind, rest) if rest else tokens

    def _known_from_reply(
        self, messages: Sequence[BaseMessage]
    ) -> tuple[int, Sequence[BaseMessage]] | None:
        """What the model reported with the last reply, and the messages behind that."""
        found = last_ai_message(messages)
        if found is None or not self._trusts(found[1]):
            return None
        tokens = reported_tokens(found[1])
        return None if tokens is None else (tokens, messages[found[0] + 1 :])

    def _counted(self, messages: Sequence[BaseMessage], view: str) -> int:
        start, total = self._known_part(messages, view)
        if start < len(messages):
            total += self.counter(messages[start:] if start else messages)
            self._remember(messages, view, total)
        return total

    def _known_part(self, messages: Sequence[BaseMessage], view: str) -> tuple[int, int]:
        """Length and count of the longest beginning of a conversation that was counted before."""
        for length in range(len(messages), 0, -1):
            message = messages[length - 1]
            found = self._known.get(id(message))
            if found is not None and found[0]() is message and found[1:3] == (length, view):
                return length, found[3]
        return 0, 0

    def _remember(self, messages: Sequence[BaseMessage], view: str, total: int) -> None:
        if not messages:
            return
        last = messages[-1]
        with self._lock:
            self._known[id(last)] = (weakref.ref(last), len(messages), view, total)
            self._known.move_to_end(id(last))
            if len(self._known) > self._limit:
                self._known.popitem(last=False)


_COUNTED: OrderedDict[tuple[int, int], tuple[Any, weakref.ref[BaseMessage], int, int]] = (
    OrderedDict()
)
"""Counts of the last ends of conversations, by kind of counter and last message; the oldest first."""


def _kind_of(counter: TokenCounter) -> Any:
    """What two counters have in common that count what follows a reply alike.

    Scaling goes by the usage that replies report, so there it makes no difference.
    """
    given: Any = counter
    if not isinstance(counter, partial):
        return given
    settings = {k: v for k, v in counter.keywords.items() if k != "use_usage_metadata_scaling"}
    return given if counter.args or settings else given.func


def _goes_by_length(counter: TokenCounter) -> bool:
    """Whether a counter makes at most one token of a character."""
    if not isinstance(counter, partial):
        return counter is count_tokens_approximately
    known = counter.keywords.keys() <= {"use_usage_metadata_scaling", "chars_per_token"}
    long_enough = counter.keywords.get("chars_per_token", 1) >= 1
    return counter.func is count_tokens_approximately and known and long_enough


def _count_once(counter: TokenCounter, kind: Any, rest: Sequence[BaseMessage]) -> int:
    """The count of what came since the last reply, shared by all who ask in the same turn."""
    last, size = rest[-1], len(rest)
    key = id(kind), id(last)
    found = _COUNTED.get(key)
    if found is not None and found[0] is kind and found[1]() is last and found[2] == size:
        return found[3]
    count = counter(rest)
    _COUNTED[key] = kind, weakref.ref(last), size, count
    while len(_COUNTED) > _REMEMBERED:
        with suppress(KeyError):
            _COUNTED.popitem(last=False)
    return count


def reanchored(
    before: Sequence[BaseMessage], after: Sequence[BaseMessage], counter: TokenCounter
) -> list[BaseMessage]:
    """A conversation that was cut, its last reply telling the new size.

    The usage that came with that reply is that of the longer conversation; left alone it would
    have the next turn, or the next middleware, cut again. Where the model reports no usage
    nothing is changed.

    Args:
        before: The conversation as the model saw it.
        after: What is left of it.
        counter: Counts both. What the reported usage exceeds the count by, such as tool schemas,
            is taken to have stayed.

    Source: the corrected ``context_tokens`` of Haystack 3.4.1's compaction.
    """
    old, new = last_ai_message(before), last_ai_message(after)
    if old is None or new is None:
        return list(after)
    reported = reported_tokens(old[1])
    if reported is None:
        return list(after)
    overhead = max(0, reported - counter(before[: old[0] + 1]))
    position, reply = new
    tokens = counter(after[: position + 1]) + overhead
    metadata = {**reply.response_metadata, CONTEXT_TOKENS: tokens}
    corrected = reply.model_copy(update={"response_metadata": metadata})
    return [*after[:position], corrected, *after[position + 1 :]]
