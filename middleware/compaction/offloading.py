"""Moving old tool results to a store when the conversation grows too large."""

from __future__ import annotations

from langchain_core.messages import BaseMessage, ToolMessage

from ..flows import Flow
from ..offloaded_result import OFFLOADED, offload, parts_of
from ..token_counts import TokenCounter
from ..tool_result_stores import ToolResultStore, checked_store
from .contract import MARK, Compacted, check_at_least
from .pruning import marked, old_results


class ToolResultOffloadCompactor:
    """Moves tool results to a store, oldest first, until the conversation fits.

    Nothing is lost: the model reads a result again with a tool from ``result_reader(store)``,
    which the agent must be given. Results of the newest steps, errors, small results and those
    that were shortened before stay, and so does one that cannot be stored.

    It always writes to its own store, for every run. Source: Haystack 3.4.1's compactor of this
    name.
    """

    def __init__(
        self,
        store: ToolResultStore,
        *,
        min_keep_steps: int = 1,
        min_tokens: int = 200,
        preview_chars: int = 200,
    ) -> None:
        """Make a compactor.

        Args:
            store: Where results go.
            min_keep_steps: Newest steps with tool calls whose results stay; at least 1, since the
                model has not read the last ones.
            min_tokens: Results up to this size stay.
            preview_chars: How much of a text stays in the conversation.

        Raises:
            ConfigurationError: A number is too small, or the store is none.
        """
        check_at_least("min_keep_steps", min_keep_steps, 1)
        check_at_least("min_tokens", min_tokens, 0)
        check_at_least("preview_chars", preview_chars, 0)
        self.store = checked_store(store)
        self.min_keep_steps = min_keep_steps
        self.min_tokens = min_tokens
        self.preview_chars = preview_chars

    def compact(
        self, messages: list[BaseMessage], target_tokens: int, token_counter: TokenCounter
    ) -> Flow[Compacted]:
        """A flow that returns the conversation with pointers in it, or None."""
        size = token_counter(messages)
        compacted = list(messages)
        for position in old_results(messages, self.min_keep_steps):
            if size <= target_tokens:
                break
            result = messages[position]
            if not isinstance(result, ToolMessage) or self._stays(result):
                continue
            tokens = token_counter([result])
            if tokens <= self.min_tokens:
                continue
            pointer = yield from self._pointer(result)
            if pointer is None or (saved := tokens - token_counter([pointer])) <= 0:
                continue
            compacted[position] = marked(pointer, "tool_result_offloading", tokens)
            size -= saved
        changed = any(a is not b for a, b in zip(compacted, messages, strict=True))
        return compacted if changed else None

    def _stays(self, result: ToolMessage) -> bool:
        metadata = result.response_metadata
        return result.status == "error" or MARK in metadata or OFFLOADED in metadata

    def _pointer(self, result: ToolMessage) -> Flow[ToolMessage | None]:
        parts = parts_of(result, self.store)
        if parts is None:
            return None
        place = ("compacted", (result.name or "tool", result.tool_call_id))
        return (yield from offload(result, parts, self.store, place, self.preview_chars))
