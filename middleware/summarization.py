"""Replacing the older part of a long conversation by a summary of it."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, cast

import httpx
from langchain_core.exceptions import ModelError
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, RemoveMessage
from langchain_core.messages.utils import count_tokens_approximately
from langchain_core.runnables import Runnable
from langchain_core.runnables.base import coerce_to_runnable
from langgraph.errors import GraphBubbleUp
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from ..state.errors import ConfigurationError
from ..state.history import last_ai_message, repair_history
from ..tools.calls import AWAITING, BLOCKING, Calls, run_inline
from .base import AgentMiddleware
from .chat_model_check import checked_model
from .cut_points import leading_system
from .internal_call_transformer import InternalCallTransformer
from .model_names import init_chat_model
from .patience import Patience
from .provider_names import provider_of, same_provider
from .summaries import SUMMARY_PROMPT, UnusableSummaryError, has_news
from .summary_cut import SummaryCut
from .summary_trigger import (
    ContextSize,
    Trigger,
    TriggerClause,
    checked_size,
    copied_trigger,
    is_met,
    trigger_clauses,
)
from .token_counts import (
    ContextMeter,
    TokenCounter,
    approximate_counter,
    reanchored,
    reported_tokens,
)

__all__ = [
    "DEFAULT_SUMMARY_PROMPT",
    "SERVICE_FAILURES",
    "ContextSize",
    "SummarizationMiddleware",
    "Summarizer",
    "TokenCounter",
    "TriggerClause",
]

logger = logging.getLogger(__name__)

DEFAULT_SUMMARY_PROMPT = SUMMARY_PROMPT

SERVICE_FAILURES: tuple[type[Exception], ...] = (ModelError, OSError, httpx.HTTPError)
"""The errors by which a model's service fails, as opposed to errors of the program."""

Summarizer = (
    str
    | BaseChatModel
    | Runnable[list[AnyMessage], str]
    | Callable[[list[AnyMessage]], str]
    | Callable[[list[AnyMessage]], Awaitable[str]]
)
"""What writes summaries: a chat model or its name, or anything that makes text of messages."""

_KEEP: ContextSize = ("messages", 20)
_TRIM_TOKENS = 4000
_REPLACED = {
    "max_tokens_before_summary": "trigger=('tokens', value)",
    "messages_to_keep": "keep=('messages', value)",
}


class SummarizationMiddleware(SummaryCut, AgentMiddleware[Any, Any, Any]):
    """Replaces the older messages of a conversation by a summary when it grows too long.

    What stays: leading system messages, the last message that a person wrote, everything the
    model has not read yet, and as many recent messages as ``keep`` says, calls always together
    with their results. A conversation in which the model has not spoken yet has nothing that it
    has read, so ``keep`` alone decides there.

    If the summary cannot be had, or is empty, the conversation stays as it is, a warning is
    logged, the run goes on and some turns pass before it is tried again. Errors that are no
    failure of a model's service end the run, nothing being lost; see ``fall_back_on``.

    Size is what the model reported with its last reply and a count of what came since; where it
    reports nothing, only messages that were not counted a turn ago are counted. Between cuts the
    beginning of the conversation does not change, so a provider's prompt cache holds.

    It does not keep the removed messages anywhere, does not shorten a single long message, and
    the tokens of the summary call are not part of the run's ``token_usage``.
    """

    transformers = (InternalCallTransformer,)

    def __init__(
        self,
        model: str | BaseChatModel,
        *,
        trigger: Trigger = None,
        keep: ContextSize = _KEEP,
        token_counter: TokenCounter = count_tokens_approximately,
        summary_prompt: str = DEFAULT_SUMMARY_PROMPT,
        trim_tokens_to_summarize: int | None = _TRIM_TOKENS,
        summarizer: Summarizer | None = None,
        fall_back_on: tuple[type[Exception], ...] = SERVICE_FAILURES,
        **deprecated: Any,
    ) -> None:
        """Make the middleware.

        Args:
            model: The chat model whose context is to be kept small, or its name. It writes the
                summaries too, unless there is a ``summarizer``.
            trigger: When to summarize: ``("messages", 50)``, ``("tokens", 3000)``,
                ``("fraction", 0.8)`` of what the model takes in; a dict of several, all of which
                must be reached; or a list of either, of which one must. None is never.
            keep: How much of the end of the conversation stays, in one of the same units.
            token_counter: Counts the messages that no model has reported on.
            summary_prompt: Text with the place ``{messages}``.
            trim_tokens_to_summarize: How much the summary model is shown: earlier summaries and
                the newest messages that fit. None shows everything; if that overflows its
                context, it is asked again with the middle left out.
            summarizer: What writes the summaries in place of ``model``: a chat model or its name;
                or a runnable or function that gets the messages and returns text.
            fall_back_on: Errors after which the conversation stays as it is and the run goes on.
                ``(Exception,)`` is all, ``()`` none.
            **deprecated: ``max_tokens_before_summary`` and ``messages_to_keep`` of older code.

        Raises:
            ConfigurationError: The model is none; a size, the prompt or ``fall_back_on`` is
                wrong; or a fraction is given and the model does not say what it takes in.
            TypeError: ``trigger`` is of another type, or an argument is unknown.
        """
        trigger, keep = _with_older_arguments(trigger, keep, deprecated)
        chat_model = init_chat_model(model) if isinstance(model, str) else model
        checked_model(chat_model, "model")
        if token_counter is count_tokens_approximately:
            token_counter = approximate_counter(chat_model, count_tokens_approximately)
        super().__init__(
            chat_model,
            _as_runnable(summarizer),
            token_counter,
            summary_prompt,
            trim_tokens_to_summarize,
        )
        self.trigger = copied_trigger(trigger)
        self.keep = checked_size(keep, "keep")
        self.fall_back_on = _checked_errors(fall_back_on)
        self._trigger_clauses = trigger_clauses(self.trigger)
        self._needs_profile = any("fraction" in clause for clause in self._trigger_clauses)
        self._provider = provider_of(chat_model)
        self._patience = Patience()
        self._meter = ContextMeter(token_counter, self._trusts)
        self._check_profile()

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002
        """Summarize, if it is due."""
        due = self._is_due(state["messages"])
        return run_inline(self._shorten(state["messages"], BLOCKING), self.name) if due else None

    async def abefore_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002
        """Summarize, if it is due."""
        due = self._is_due(state["messages"])
        return await self._shorten(state["messages"], AWAITING) if due else None

    async def _shorten(self, messages: list[BaseMessage], calls: Calls) -> dict[str, Any] | None:
        start = leading_system(messages)
        old, kept = self.cut(repair_history(messages[start:]).messages)
        if not has_news(old) or not self._patience.is_over():
            return None
        summary = await self._summary(old, calls)
        if summary is None:
            return None
        left = [*messages[:start], *self._build_new_messages(summary), *kept]
        left = reanchored(messages, left, self.token_counter)
        return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), *left]}

    async def _summary(self, old: list[BaseMessage], calls: Calls) -> str | None:
        """A summary, or None if there is none to be had and the run can go on without."""
        write = self._create_summary if calls.synchronous else self._acreate_summary
        try:
            written = write(old)
            return written if isinstance(written, str) else await written
        except GraphBubbleUp:
            raise
        except Exception as error:
            if not isinstance(error, (UnusableSummaryError, *self.fall_back_on)):
                raise
            self._patience.begin()
            logger.warning(
                "%s could not summarize %d messages, which stay as they are: %r",
                self.name,
                len(old),
                error,
            )
            return None

    def _is_due(self, messages: Sequence[BaseMessage]) -> bool:
        if not self._trigger_clauses:
            return False
        if all(clause.keys() == {"messages"} for clause in self._trigger_clauses):
            return self._should_summarize(messages, 0)
        if self._meter.counter is not self.token_counter:
            self._meter = ContextMeter(self.token_counter, self._trusts)
        most = self._meter.at_most(messages)
        if most is not None and not self._is_met(messages, most):
            return False
        if not self._should_summarize(messages, self._meter.estimate(messages)):
            return False
        return self._should_summarize(messages, self._meter.confirm(messages))

    def _should_summarize(self, messages: Sequence[BaseMessage], total_tokens: int) -> bool:
        return self._is_met(messages, max(total_tokens, self._reported(messages)))

    def _is_met(self, messages: Sequence[BaseMessage], tokens: int) -> bool:
        limit = self._get_profile_limits() if self._needs_profile else None
        return is_met(self._trigger_clauses, len(messages), tokens, limit)

    def _reported(self, messages: Sequence[BaseMessage]) -> int:
        """Tokens that came with the last reply; 0 if they say nothing about this model."""
        found = last_ai_message(messages)
        return (reported_tokens(found[1]) or 0) if found and self._trusts(found[1]) else 0

    def _trusts(self, reply: AIMessage) -> bool:
        """Whether the usage of a reply counts: another provider counts tokens in another way."""
        provider: Any = reply.response_metadata.get("model_provider")
        return not isinstance(provider, str) or same_provider(provider, self._provider)

    @property
    def _trigger_conditions(self) -> list[ContextSize]:
        """The clauses of a single threshold, as pairs."""
        single = [clause for clause in self._trigger_clauses if len(clause) == 1]
        return [cast("ContextSize", pair) for clause in single for pair in clause.items()]

    def _check_profile(self) -> None:
        kinds = {self.keep[0], *(kind for clause in self._trigger_clauses for kind in clause)}
        if "fraction" in kinds and self._get_profile_limits() is None:
            msg = (
                "Model profile information is required to use fractional token limits, and is "
                "unavailable for the specified model. Give numbers of tokens, or a model with "
                "profile={'max_input_tokens': ...}."
            )
            raise ConfigurationError(msg)


def _with_older_arguments(
    trigger: Trigger, keep: ContextSize, given: Mapping[str, Any]
) -> tuple[Trigger, ContextSize]:
    """Trigger and size to keep, taken from arguments of older code where they are not given.

    Raises:
        TypeError: An argument is none of those either.
    """
    for name in given:
        if name not in _REPLACED:
            msg = f"SummarizationMiddleware has no argument {name!r}."
            raise TypeError(msg)
        msg = f"{name} is deprecated. Use {_REPLACED[name]} instead."
        warnings.warn(msg, DeprecationWarning, stacklevel=3)
    if trigger is None and (tokens := given.get("max_tokens_before_summary")) is not None:
        trigger = ("tokens", tokens)
    if keep == _KEEP and (messages := given.get("messages_to_keep")) is not None:
        keep = ("messages", messages)
    return trigger, keep


def _as_runnable(summarizer: Summarizer | None) -> BaseChatModel | Runnable[Any, str] | None:
    if isinstance(summarizer, str):
        return init_chat_model(summarizer)
    if summarizer is None or isinstance(summarizer, BaseChatModel):
        return summarizer
    return cast("Runnable[Any, str]", coerce_to_runnable(cast("Any", summarizer)))


def _checked_errors(errors: Any) -> tuple[type[Exception], ...]:
    kinds = cast("tuple[Any, ...]", errors) if isinstance(errors, tuple) else (errors,)
    if not all(isinstance(kind, type) and issubclass(kind, Exception) for kind in kinds):
        msg = f"fall_back_on is {errors!r}; give a tuple of exception types."
        raise ConfigurationError(msg)
    return kinds
