"""The extraction of one record, from the first request to a value or a rejection.

Written as a flow: it yields what it wants called and knows nothing of threads or event loops.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from langchain_core.exceptions import (
    ModelAuthenticationError,
    ModelNotFoundError,
    ModelPermissionDeniedError,
)
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langgraph.errors import GraphBubbleUp

from ...middleware.flows import WAIT, Ask, Flow
from ...middleware.retry_hints import status_of
from ...middleware.retrying import RetryPolicy
from ...state.errors import ConfigurationError
from ...state.history import with_clean_calls
from ...tools.calls import Dual
from ..direct_call import may_call_directly
from ..structured_output import ActiveOutput, Answered, AskAgain, Failed
from .record import Record
from .result import Extraction
from .time_limit import limited
from .totals import summed_usage

_HOPELESS = frozenset({401, 403, 404})
"""Statuses that say the same of every record: no key, no right, no such model."""
_HOPELESS_ERRORS = (
    ConfigurationError,
    ModelAuthenticationError,
    ModelNotFoundError,
    ModelPermissionDeniedError,
)


INSTRUCTIONS = "Extract the data from the user's text. Do not make anything up."
"""The system prompt where none is given."""


@dataclass(frozen=True)
class Extractor:
    """How the records of a job are extracted."""

    model: Dual
    """``(messages, config)``: the model with the tools or the schema bound."""
    output: ActiveOutput
    """How its replies are read."""
    instructions: str = INSTRUCTIONS
    """System prompt; the record's text follows as the user's message."""
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    """When a request that failed is made again."""
    time_limit_s: float | None = None
    """Seconds after which a request is given up and no further one is made for a record."""
    turn_wait_s: Callable[[], float] = lambda: 0.0
    """Seconds that the next request has to wait for its turn, as a rate limit tells."""
    clock: Callable[[], float] = time.monotonic
    direct: Dual | None = None
    """``(messages)``: the model without langchain-core's bookkeeping, where nobody reads it."""


def ends_the_job(error: Exception) -> bool:
    """Whether an error will come again with every record, so that rejecting them helps nobody."""
    return isinstance(error, _HOPELESS_ERRORS) or status_of(error) in _HOPELESS


def extract_record(record: Record, extractor: Extractor) -> Flow[Extraction[Any]]:
    """Extract from one record.

    A record that cannot be extracted from is rejected in the result, not raised.

    Raises:
        Exception: One that every other record will meet too; see :func:`ends_the_job`.
    """
    run = _Run(record, extractor)
    if not record.text.strip():
        return run.rejected("EmptyRecord", "the record has no text")
    failures: tuple[str, ...] = ()
    while True:
        reply = yield from run.ask()
        if isinstance(reply, Extraction):
            return reply
        outcome = extractor.output.read(reply, failures, with_tools=False)
        if isinstance(outcome, Answered):
            return run.extracted(outcome)
        if isinstance(outcome, AskAgain):
            failures = outcome.failures
            run.messages += [reply, *outcome.messages]
        else:
            error = outcome.error if isinstance(outcome, Failed) else None
            return run.rejected(type(error).__name__, str(error))


class _Run:
    """The state of one record's extraction."""

    def __init__(self, record: Record, extractor: Extractor) -> None:
        self.record, self.extractor = record, extractor
        self.messages: list[BaseMessage] = [HumanMessage(record.text)]
        if extractor.instructions:
            self.messages.insert(0, SystemMessage(extractor.instructions))
        self.started = extractor.clock()
        self.attempts = 0
        self.usage: dict[str, Any] = {}
        self.last_output = ""

    def ask(self) -> Flow[AIMessage | Extraction[Any]]:
        """Ask the model, again after failures that may pass; a rejection where they do not."""
        for failed in count():
            if (wait := self.extractor.turn_wait_s()) > 0:
                yield Ask(WAIT, (wait,))
            if self.is_late():
                return self.late()
            self.attempts += 1
            try:
                reply = yield self.request()
            except GraphBubbleUp:
                raise
            except Exception as error:  # noqa: BLE001 -- the boundary: one record, one rejection
                if self.is_late():
                    return self.late()
                pause = self.pause_after(error, failed)
                if pause is None:
                    return self.rejected(type(error).__name__, str(error))
                if self.is_late(pause):
                    return self.late()
                yield Ask(WAIT, (pause,))
            else:
                return self.taken(reply)
        raise AssertionError  # pragma: no cover -- count() has no end

    def request(self) -> Ask:
        """What the model is asked now, within the time that is left."""
        extractor = self.extractor
        ask = Ask(extractor.model, (self.messages, None))
        if extractor.direct is not None and may_call_directly(self.messages, layered=True):
            ask = Ask(extractor.direct, (self.messages,))
        if extractor.time_limit_s is None:
            return ask
        return Ask(limited(ask.function, extractor.time_limit_s - self.seconds()), ask.args)

    def pause_after(self, error: Exception, failed: int) -> float | None:
        """Seconds to wait before the next request, or None to reject the record."""
        if ends_the_job(error):
            raise error
        retry = self.extractor.retry
        return retry.wait_s(error, failed) if retry.retries(error) else None

    def taken(self, reply: object) -> AIMessage:
        """The reply with its usage counted and its calls fit for a history."""
        if not isinstance(reply, AIMessage):
            msg = f"The model gave a {type(reply).__name__!r}; give a chat model, whose replies are AI messages."
            raise ConfigurationError(msg)
        self.usage = summed_usage(self.usage, reply.usage_metadata)
        self.last_output = self.extractor.output.text_of(reply)
        return with_clean_calls(reply)

    def is_late(self, in_s: float = 0.0) -> bool:
        """Whether the time limit is over, or will be in some seconds."""
        limit = self.extractor.time_limit_s
        return limit is not None and self.seconds() + in_s >= limit

    def late(self) -> Extraction[Any]:
        """The rejection of a record whose time is over."""
        return self.rejected("TimeLimit", f"took longer than {self.extractor.time_limit_s} seconds")

    def seconds(self) -> float:
        """Seconds since the extraction began."""
        return round(self.extractor.clock() - self.started, 6)

    def extracted(self, answer: Answered) -> Extraction[Any]:
        """The result with a value."""
        return Extraction(
            self.record,
            answer.value,
            attempts=self.attempts,
            usage=self.usage,
            seconds=self.seconds(),
            data=answer.data,
            schema_name=answer.schema_name,
        )

    def rejected(self, error_type: str, error: str) -> Extraction[Any]:
        """The result without one."""
        return Extraction(
            self.record,
            error=error or error_type,
            error_type=error_type,
            attempts=self.attempts,
            usage=self.usage,
            seconds=self.seconds(),
            last_output=self.last_output,
        )
