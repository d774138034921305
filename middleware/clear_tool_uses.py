"""Taking the content out of old tool results in the messages that a model is sent."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from langchain_core.messages import AIMessage, BaseMessage, ToolCall, ToolMessage

from ..state.errors import ConfigurationError
from ..state.history import last_ai_message
from .token_counts import TokenCounter

MARK = "context_editing"
"""Key of ``response_metadata`` that says what was taken out of a message."""

_ARGUMENTS: dict[str, Any] = {"args": {}, "input": {}, "arguments": "{}"}
"""What stands for no arguments, by the key under which a content block holds them."""


class Copies:
    """Edited copies of messages, made once and kept as long as their originals live."""

    def __init__(self) -> None:
        self._made: dict[Hashable, tuple[weakref.ref[BaseMessage], BaseMessage]] = {}

    def of(
        self, original: BaseMessage, variant: Hashable, make: Callable[[], BaseMessage]
    ) -> BaseMessage:
        """The copy of ``original`` that ``variant`` names, made now if it is not there."""
        key = (id(original), variant)
        found = self._made.get(key)
        if found is None or found[0]() is not original:
            ref = weakref.ref(original, lambda _: self._made.pop(key, None))
            found = self._made[key] = (ref, make())
        return found[1]


@dataclass(frozen=True)
class _Use:
    """A tool result that may be cleared, with the call it answers."""

    position: int
    result: ToolMessage
    reply_at: int
    call: ToolCall


@dataclass(slots=True)
class ClearToolUsesEdit:
    """Takes the content out of all but the newest tool results once a request grows too large.

    Source: the settings of LangChain 1.5.2's edit of this name, after Anthropic's
    ``clear_tool_uses_20250919``.
    """

    trigger: int = 100_000
    """Tokens above which results are cleared."""
    clear_at_least: int = 0
    """Tokens to reclaim: clearing stops, oldest first, when that many are. 0 clears all."""
    keep: int = 3
    """Newest results that stay. Results that the model has not read yet stay too, unless this
    is 0."""
    clear_tool_inputs: bool = False
    """Take out the arguments of the calls as well."""
    exclude_tools: Sequence[str] = ()
    """Tools whose results are never cleared."""
    placeholder: str = "[cleared]"
    """What stands in place of a result."""

    replaces_messages: ClassVar[bool] = True
    """It puts new messages into the list and leaves those that were there as they are."""

    def __post_init__(self) -> None:
        for name in ("trigger", "clear_at_least", "keep"):
            value: Any = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                msg = f"{name} is {value!r}; give a whole number of at least 0."
                raise ConfigurationError(msg)
        names: Any = self.exclude_tools
        if isinstance(names, str):
            msg = f"exclude_tools is the name {names!r}; give a list of names: [{names!r}]."
            raise ConfigurationError(msg)

    def apply(self, messages: list[Any], *, count_tokens: TokenCounter) -> None:
        """Clear in the list, if its messages are too large.

        Args:
            messages: The messages of a request, oldest first. Entries are replaced.
            count_tokens: Counts them.
        """
        if count_tokens(messages) > self.trigger:
            self.clear(messages, count_tokens, Copies())

    def clear(self, messages: list[Any], count_tokens: TokenCounter, copies: Copies) -> str | None:
        """Clear results in the list, oldest first; the id of the last one, if any was cleared."""
        last: str | None = None
        reclaimed = 0
        for use in self._uses(messages, self._end(messages)):
            before = [use.result, messages[use.reply_at]]
            self._take_out(messages, use, copies)
            last = use.result.id or last
            if self.clear_at_least:
                after = [messages[use.position], messages[use.reply_at]]
                reclaimed += count_tokens(before) - count_tokens(after)
                if reclaimed >= self.clear_at_least:
                    break
        return last

    def clear_up_to(self, messages: Sequence[Any], last: str, copies: Copies) -> list[Any] | None:
        """The messages with the same results cleared as a turn ago.

        Args:
            messages: The messages of a request, oldest first. Not changed.
            last: What :meth:`clear` returned.
            copies: The copies that were made then.

        Returns:
            None if there is no result with that id any more.
        """
        end = next((p for p, m in enumerate(messages) if m.id == last), None)
        if end is None:
            return None
        edited = list(messages)
        for use in self._uses(edited, end + 1):
            self._take_out(edited, use, copies)
        return edited

    def _end(self, messages: Sequence[BaseMessage]) -> int:
        """Position up to which results may be cleared."""
        results = [p for p, m in enumerate(messages) if isinstance(m, ToolMessage)]
        if not self.keep:
            return len(messages)
        if self.keep >= len(results):
            return 0
        found = last_ai_message(messages)
        unread = found[0] if found is not None else len(messages)
        return min(results[-self.keep], unread)

    def _uses(self, messages: Sequence[BaseMessage], end: int) -> Iterator[_Use]:
        """The results before ``end`` that are to be cleared and are not yet, oldest first."""
        excluded = set(self.exclude_tools)
        reply_at, calls = -1, dict[str | None, ToolCall]()
        for position in range(end):
            message = messages[position]
            if isinstance(message, AIMessage):
                reply_at, calls = position, {call["id"]: call for call in message.tool_calls}
            elif isinstance(message, ToolMessage):
                call = calls.get(message.tool_call_id)
                done = message.response_metadata.get(MARK, {}).get("cleared")
                if call and not done and (message.name or call["name"]) not in excluded:
                    yield _Use(position, message, reply_at, call)

    def _take_out(self, messages: list[Any], use: _Use, copies: Copies) -> None:
        placeholder = self.placeholder
        messages[use.position] = copies.of(
            use.result, placeholder, lambda: _without_content(use.result, placeholder)
        )
        if self.clear_tool_inputs:
            ident = use.result.tool_call_id
            reply = cast("AIMessage", messages[use.reply_at])
            messages[use.reply_at] = copies.of(
                reply, ("inputs", ident), lambda: _without_input(reply, ident)
            )


def _without_content(result: ToolMessage, placeholder: str) -> ToolMessage:
    mark = {"cleared": True, "strategy": "clear_tool_uses"}
    metadata = {**result.response_metadata, MARK: mark}
    return result.model_copy(
        update={"content": placeholder, "artifact": None, "response_metadata": metadata}
    )


def _without_input(reply: AIMessage, ident: str) -> AIMessage:
    calls: list[Any] = [{**c, "args": {}} if c["id"] == ident else c for c in reply.tool_calls]
    before: dict[str, Any] = reply.response_metadata.get(MARK, {})
    cleared = sorted({*before.get("cleared_tool_inputs", ()), ident})
    metadata = {**reply.response_metadata, MARK: {**before, "cleared_tool_inputs": cleared}}
    update: dict[str, Any] = {"tool_calls": calls, "response_metadata": metadata}
    content: Any = reply.content
    if isinstance(content, list):
        update["content"] = [_without_arguments(b, ident) for b in cast("list[Any]", content)]
    return reply.model_copy(update=update)


def _without_arguments(block: Any, ident: str) -> Any:
    """A content block of a call, without the arguments that it repeats."""
    if not isinstance(block, dict):
        return block
    values = cast("dict[str, Any]", block)
    if ident not in (values.get("id"), values.get("call_id")):
        return values
    return {k: _ARGUMENTS.get(k, v) for k, v in values.items()}
