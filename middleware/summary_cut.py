"""Which messages a summary replaces, and what stays."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import cast

from langchain_core.messages import BaseMessage, HumanMessage, add_notification_metadata

from .cut_points import SUMMARY, last_user, safe_cut, unread_start
from .summary_trigger import ContextSize, tokens_of
from .summary_writer import SummaryWriter
from .token_counts import unscaled

_MESSAGES_TO_KEEP = 20


class SummaryCut(SummaryWriter):
    """Parts a conversation into what is summarized and what stays.

    The names are those that subclasses written for LangChain override.
    """

    keep: ContextSize

    def cut(self, messages: list[BaseMessage]) -> tuple[list[BaseMessage], list[BaseMessage]]:
        """What is to be summarized, and what stays.

        Args:
            messages: A valid conversation without leading system messages, oldest first.
        """
        unread = unread_start(messages)
        cutoff = self._determine_cutoff_index(messages)
        return self._partition_messages(messages, cutoff if unread is None else min(cutoff, unread))

    def _determine_cutoff_index(self, messages: list[BaseMessage]) -> int:
        kind, value = self.keep
        if kind == "messages":
            return self._find_safe_cutoff(messages, cast("int", value))
        cutoff = self._find_token_based_cutoff(messages)
        return self._find_safe_cutoff(messages, _MESSAGES_TO_KEEP) if cutoff is None else cutoff

    def _find_safe_cutoff(self, messages: list[BaseMessage], messages_to_keep: int) -> int:
        if len(messages) <= messages_to_keep:
            return 0
        return self._find_safe_cutoff_point(messages, len(messages) - messages_to_keep)

    def _find_token_based_cutoff(self, messages: list[BaseMessage]) -> int | None:
        """The cut before the longest end that fits, or None if its size is not known.

        The last message stays even if it alone does not fit.
        """
        target = tokens_of(self.keep, self._get_profile_limits())
        if target is None:
            return None
        if not messages or self.token_counter(messages) <= target:
            return 0
        count = unscaled(self.token_counter)
        cutoff = len(messages)
        while cutoff and (tokens := count([messages[cutoff - 1]])) <= target:
            target -= tokens
            cutoff -= 1
        return self._find_safe_cutoff_point(messages, min(cutoff, len(messages) - 1))

    @staticmethod
    def _find_safe_cutoff_point(messages: Sequence[BaseMessage], cutoff_index: int) -> int:
        return safe_cut(messages, cutoff_index)

    @staticmethod
    def _partition_messages(
        conversation_messages: list[BaseMessage], cutoff_index: int
    ) -> tuple[list[BaseMessage], list[BaseMessage]]:
        """Both sides of a cut.

        The last message that a person wrote is on the near one, unless it has been answered and
        nothing came since.
        """
        old, kept = conversation_messages[:cutoff_index], conversation_messages[cutoff_index:]
        task = last_user(conversation_messages)
        answered = unread_start(conversation_messages) == len(conversation_messages)
        if task is None or task >= cutoff_index or answered:
            return old, kept
        return [*old[:task], *old[task + 1 :]], [old[task], *kept]

    @staticmethod
    def _build_new_messages(summary: str) -> list[HumanMessage]:
        text = f"Here is a summary of the conversation to date:\n\n{summary}"
        return [add_notification_metadata(HumanMessage(text), source=SUMMARY)]

    @staticmethod
    def _ensure_message_ids(messages: Sequence[BaseMessage]) -> None:
        """Give ids to messages without one. An agent's messages have them; a caller's may not."""
        for message in messages:
            if message.id is None:
                message.id = str(uuid.uuid4())
