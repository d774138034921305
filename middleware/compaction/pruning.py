"""Replacing old tool results by a placeholder."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from langchain_core.messages import BaseMessage, ToolMessage

from ..cut_points import tool_steps
from ..token_counts import TokenCounter
from .contract import MARK, Compacted, check_at_least

PLACEHOLDER = "[This result was removed to make room. Call `{tool_name}` again if it is needed.]"


class ToolResultPruningCompactor:
    """Replaces tool results by a placeholder, oldest first, until the conversation fits.

    The conversation keeps its form: calls, ids and error marks stay. Results of the newest steps,
    small ones and those that were shortened or offloaded before are left alone.

    Source: Haystack 3.4.1's compactor of this name.
    """

    def __init__(
        self,
        *,
        min_keep_steps: int = 1,
        min_tokens: int = 200,
        placeholder: str = PLACEHOLDER,
        skip_meta_keys: Collection[str] = ("tool_result_offloaded",),
    ) -> None:
        """Make a compactor.

        Args:
            min_keep_steps: Newest steps with tool calls whose results stay; at least 1, since the
                model has not read the last ones.
            min_tokens: Results up to this size stay.
            placeholder: Stands in place of a result; ``{tool_name}`` in it becomes the tool's.
            skip_meta_keys: Results with one of these keys in their ``response_metadata`` stay.

        Raises:
            ConfigurationError: A number is too small.
        """
        check_at_least("min_keep_steps", min_keep_steps, 1)
        check_at_least("min_tokens", min_tokens, 0)
        self.min_keep_steps = min_keep_steps
        self.min_tokens = min_tokens
        self.placeholder = placeholder
        self.skip_meta_keys = tuple(skip_meta_keys)

    def compact(
        self, messages: list[BaseMessage], target_tokens: int, token_counter: TokenCounter
    ) -> Compacted:
        """The conversation with old results replaced, or None if none can be."""
        size = token_counter(messages)
        compacted = list(messages)
        for position in old_results(messages, self.min_keep_steps):
            if size <= target_tokens:
                break
            result = messages[position]
            if not isinstance(result, ToolMessage) or self._stays(result):
                continue
            tokens = token_counter([result])
            pruned = self._pruned(result, tokens)
            saved = tokens - token_counter([pruned])
            if tokens > self.min_tokens and saved > 0:
                compacted[position] = pruned
                size -= saved
        changed = any(a is not b for a, b in zip(compacted, messages, strict=True))
        return compacted if changed else None

    def _stays(self, result: ToolMessage) -> bool:
        return any(key in result.response_metadata for key in (MARK, *self.skip_meta_keys))

    def _pruned(self, result: ToolMessage, tokens: int) -> ToolMessage:
        text = self.placeholder.replace("{tool_name}", result.name or "the tool")
        return marked(result.model_copy(update={"content": text}), "tool_result_pruning", tokens)


def old_results(messages: Sequence[BaseMessage], keep_steps: int) -> list[int]:
    """Positions of all tool results but those of the newest steps, oldest first."""
    return [p for step in tool_steps(messages)[:-keep_steps] for p in step]


def marked(result: ToolMessage, strategy: str, tokens: int) -> ToolMessage:
    """A shortened result that says so, and how many tokens it had."""
    mark = {"strategy": strategy, "original_tokens": tokens}
    return result.model_copy(update={"response_metadata": {**result.response_metadata, MARK: mark}})
