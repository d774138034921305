"""Dropping the oldest parts of a conversation."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import BaseMessage

from ...state.errors import ConfigurationError
from ..cut_points import Layout, layout
from ..token_counts import TokenCounter
from .contract import Compacted, check_at_least, note_data, omission_note

_STRATEGY = "sliding_window"
_NUMBER = "{num_removed}"

OMISSION_NOTE = f"[{_NUMBER} earlier messages of this conversation were removed to make room.]"


class SlidingWindowCompactor:
    """Keeps the newest part of a conversation that fits and drops the rest.

    Leading system messages, the last message that a person wrote and what the model has not read
    stay. Whole turns go first, oldest first; if the current task alone is too large, its oldest
    steps go too, each with its tool results. One note stands where the removed messages stood.

    It keeps nothing of what is removed. Source: Haystack 3.4.1's compactor of this name.
    """

    def __init__(
        self, *, min_keep_steps: int = 1, omission_note: str | None = OMISSION_NOTE
    ) -> None:
        """Make a compactor.

        Args:
            min_keep_steps: Newest steps of the current task that stay even if they do not fit.
            omission_note: Put in place of what was removed; ``{num_removed}`` in it becomes the
                number of messages. None leaves no trace.

        Raises:
            ConfigurationError: The number is negative, or the note is empty.
        """
        check_at_least("min_keep_steps", min_keep_steps, 0)
        if omission_note is not None and not omission_note.strip():
            msg = f"omission_note is {omission_note!r}; give a text, or None for no note."
            raise ConfigurationError(msg)
        self.min_keep_steps = min_keep_steps
        self.omission_note = omission_note

    def compact(
        self, messages: list[BaseMessage], target_tokens: int, token_counter: TokenCounter
    ) -> Compacted:
        """The conversation without its oldest parts, or None if none can go."""
        size = token_counter(messages)
        if size <= target_tokens:
            return None
        parts = layout(messages)
        removed = self._removed(messages, parts, target_tokens, token_counter)
        notes = {p for p in removed if note_data(messages[p], _STRATEGY) is not None}
        if not removed or (self.omission_note is not None and removed == notes):
            return None
        kept = [p for p in range(len(messages)) if p not in removed]
        result = [messages[p] for p in kept]
        if self.omission_note is not None:
            before = sum(_removed_earlier(messages[p]) for p in notes)
            number = before + len(removed) - len(notes)
            text = self.omission_note.replace(_NUMBER, str(number))
            task = parts.task
            in_task = task is not None and any(p > task for p in removed - notes)
            place = kept.index(task) + 1 if in_task and task is not None else parts.system_end
            result.insert(place, omission_note(text, _STRATEGY, number))
        return result if token_counter(result) < size else None

    def _removed(
        self, messages: Sequence[BaseMessage], parts: Layout, target: int, counter: TokenCounter
    ) -> set[int]:
        """Positions of the messages to remove; earlier notes are always among them."""
        turns, steps = (
            [_without_notes(messages, p) for p in g] for g in (parts.turns, parts.steps)
        )
        movable = {p for part in (*parts.turns, *parts.steps) for p in part}
        budget = target - counter([m for p, m in enumerate(messages) if p not in movable])
        first_step, budget = _first_that_fits(messages, steps, budget, counter)
        first_step = min(first_step, len(parts.given_up(self.min_keep_steps)))
        first_turn = len(turns)
        if first_step == 0 and budget >= 0:
            first_turn, _ = _first_that_fits(messages, turns, budget, counter)
        kept = {p for part in (*turns[first_turn:], *steps[first_step:]) for p in part}
        return movable - kept


def _without_notes(messages: Sequence[BaseMessage], part: range) -> list[int]:
    return [p for p in part if note_data(messages[p], _STRATEGY) is None]


def _first_that_fits(
    messages: Sequence[BaseMessage], parts: Sequence[list[int]], budget: int, counter: TokenCounter
) -> tuple[int, int]:
    """The first of the newest parts that fit together, and what is left of the budget."""
    first = len(parts)
    while first:
        tokens = counter([messages[p] for p in parts[first - 1]])
        if tokens > budget:
            break
        budget -= tokens
        first -= 1
    return first, budget


def _removed_earlier(note: BaseMessage) -> int:
    data = note_data(note, _STRATEGY) or {}
    number = data.get("removed_messages")
    return number if isinstance(number, int) else 0
