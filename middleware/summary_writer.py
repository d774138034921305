"""Asking a model, or whatever takes its place, for a summary of messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from langchain_core.exceptions import ContextOverflowError
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.messages.utils import get_buffer_string
from langchain_core.runnables import Runnable

from ..state.errors import InvalidResponseError
from ..tools.calls import AWAITING, BLOCKING, Calls, Dual, run_inline
from .cut_points import SUMMARY
from .internal_call_transformer import internal_config
from .retry_hints import default_retry_on
from .summaries import (
    UnusableSummaryError,
    checked_prompt,
    cut_middle,
    summary_text,
    within_budget,
)
from .token_counts import TokenCounter, unscaled

_LAST_RESORT = 15


def _blocking(writer: SummaryWriter, messages: list[BaseMessage]) -> str:
    return run_inline(writer.write(messages, BLOCKING), "the summary")


async def _awaiting(writer: SummaryWriter, messages: list[BaseMessage]) -> str:
    return await writer.write(messages, AWAITING)


class SummaryWriter:
    """Writes summaries with a chat model, or with a function or runnable of the caller's."""

    def __init__(
        self,
        model: BaseChatModel,
        summarizer: BaseChatModel | Runnable[Any, str] | None,
        token_counter: TokenCounter,
        summary_prompt: str,
        trim_tokens_to_summarize: int | None,
    ) -> None:
        """Make a writer.

        Args:
            model: The chat model whose context is kept small.
            summarizer: What writes in its place; a chat model is asked with the prompt, anything
                else gets the messages and returns text.
            token_counter: Counts what is shown.
            summary_prompt: Text with the place ``{messages}``.
            trim_tokens_to_summarize: What is shown at most; None shows everything.

        Raises:
            ConfigurationError: The prompt has no place for the messages.
        """
        self.model = model
        self.token_counter = token_counter
        self.summary_prompt = checked_prompt(summary_prompt)
        self.trim_tokens_to_summarize = trim_tokens_to_summarize
        self.summarizer: Runnable[Any, str] | None = None
        self._summary_chat_model = model
        if isinstance(summarizer, BaseChatModel):
            self._summary_chat_model = summarizer
        else:
            self.summarizer = summarizer
        self._summary_model = self._summary_chat_model.with_retry(
            retry_if_exception_type=cast("Any", default_retry_on)
        )

    # The names under which subclasses written for LangChain call it.
    _create_summary = _blocking
    _acreate_summary = _awaiting

    async def write(self, messages: list[BaseMessage], calls: Calls) -> str:
        """A summary of the messages.

        Raises:
            UnusableSummaryError: It is empty, or a filter cut it off.
            InvalidResponseError: The caller's summarizer returned no text.
            Exception: What the model raises after its retries.
        """
        if not messages:
            return "No previous conversation history."
        shown = self._trim_messages_for_summary(messages)
        if not shown:
            msg = "No message fits into what may be shown for a summary; raise the limit."
            raise UnusableSummaryError(msg)
        if self.summarizer is not None:
            return _checked(await _ask(self.summarizer, shown, calls))
        try:
            reply = await _ask(self._summary_model, self._format_summary_prompt(shown), calls)
        except ContextOverflowError:
            shorter = self._overflow_retry_prompt(shown)
            if shorter is None:
                raise
            reply = await _ask(self._summary_model, shorter, calls)
        return summary_text(reply)

    def _trim_messages_for_summary(self, messages: list[BaseMessage]) -> list[BaseMessage]:
        if self.trim_tokens_to_summarize is None:
            return messages
        try:
            return within_budget(messages, self.trim_tokens_to_summarize, self.token_counter)
        except Exception:  # noqa: BLE001 - a counter that fails must not cost the conversation
            return messages[-_LAST_RESORT:]

    def _format_summary_prompt(self, messages: list[BaseMessage]) -> str:
        # As XML the addresses of images and files stay visible, other metadata does not.
        return self._filled(get_buffer_string(messages, format="xml"))

    def _overflow_retry_prompt(self, messages: list[BaseMessage]) -> str | None:
        """A prompt of half the size, its beginning and its end kept, or None if nothing fits.

        Source: LangChain 1.5.2, also for the 40 % of a window that is known.
        """
        shown = get_buffer_string(messages, format="xml")
        tokens = unscaled(self.token_counter)([HumanMessage(shown)])
        budget = tokens // 2
        window = self._get_profile_limits(self._summary_chat_model)
        if window is not None:
            budget = min(budget, window * 2 // 5)
        characters = len(shown) * budget // max(tokens, 1)
        return self._filled(cut_middle(shown, characters)) if characters > 0 else None

    def _filled(self, shown: str) -> str:
        return self.summary_prompt.format(messages=shown).rstrip()

    def _get_profile_limits(self, model: BaseChatModel | None = None) -> int | None:
        """Tokens that a model takes in, by default the one whose context is kept small."""
        profile: Any = getattr(model or self.model, "profile", None)
        limit: Any = None
        if isinstance(profile, Mapping):
            limit = cast("Mapping[str, Any]", profile).get("max_input_tokens")
        return limit if isinstance(limit, int) else None


async def _ask(runnable: Runnable[Any, Any], value: Any, calls: Calls) -> Any:
    asked = Dual("the summary", runnable.invoke, runnable.ainvoke)
    return await calls.call(asked, value, internal_config(SUMMARY))


def _checked(summary: Any) -> str:
    if not isinstance(summary, str):
        msg = f"`summarizer` must return a str, got {type(summary).__name__}; return the text."
        raise InvalidResponseError(msg, owner="SummarizationMiddleware")
    return summary_text(summary)
