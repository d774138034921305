"""A guardrail on what a user writes that costs no time."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.types import Command

from ...tools.calls import AWAITING, BLOCKING, Calls, Job, run_inline
from ..message_text import text_of
from ..request import ExtendedModelResponse, ModelRequest, ModelResponse
from .check import GuardedCheck
from .kept import Record, key_of, message_key, record
from .reply import ReplyGuardrail, with_ids
from .users import REMOVED, Passed, behind_last_reply, is_from_user, removed
from .verdict import Verdict, allow, block

_TOO_LATE = block("This message cannot be answered.")
"""The verdict in place of a ``revise``."""


class ParallelInputGuardrail(ReplyGuardrail):
    """Checks messages of a user while the model already works on them.

    The reply is held back until the checks are done. If one blocks, the reply is dropped with its
    tool calls and with what layers further in wanted to write, a note takes the place of the
    message, and the run ends. Nothing is saved of the model's cost, only time; a ``revise`` comes
    too late and is taken as ``block``. Where a person is to be asked the reply is kept, and
    counts if the answer is ``approve``; its tool calls wait.

    The message is stored before it is checked, and streams of tokens begin before the verdict is
    known.
    """

    quick_hooks = True

    def __init__(self, name: str, check: GuardedCheck) -> None:
        super().__init__(name, check)
        self._passed = Passed()

    def filter_input(self, messages: Sequence[BaseMessage]) -> dict[str, Any]:
        """The messages of an input, and which of them are to be checked: all of users."""
        named = [
            m.model_copy(update={"id": str(uuid.uuid4())})
            if isinstance(m, HumanMessage) and not m.id
            else m
            for m in messages
        ]
        new = [
            m for m in named if isinstance(m, HumanMessage) and text_of(m) and m.content != REMOVED
        ]
        records = {key_of(m.id): Record(kind="new") for m in new}
        return {"messages": named, **(self._keep(records) if records else {})}

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[Any], ModelResponse[Any]]
    ) -> Any:
        """Check and ask at the same time."""

        async def model(asked: ModelRequest[Any]) -> ModelResponse[Any]:
            return handler(asked)

        return run_inline(self._beside(BLOCKING, request, model))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[Any], Awaitable[ModelResponse[Any]]]
    ) -> Any:
        """Check and ask at the same time, on the event loop."""
        return await self._beside(AWAITING, request, handler)

    async def _beside(self, calls: Calls, request: ModelRequest[Any], model: Any) -> Any:
        known = self._records(request.state)
        new = _unchecked(request.messages, known)
        if not new:
            return await model(request)
        checks = [partial(self._verdict, calls, message) for message in new]

        async def reply() -> Any:
            return await model(request)

        jobs: list[Job[Any]] = [*checks, reply]
        *checked, answer = await calls.many(jobs, None)
        for outcome in checked:
            if outcome.error is not None:
                raise outcome.error
        verdicts = [cast("Verdict", outcome.value) for outcome in checked]
        records: dict[str, Record | None] = {
            key: None for m in new if (key := key_of(m.id)) in known
        }
        if any(v.kind == "block" for v in verdicts):
            return self._dropped(request, answer.value, zip(new, verdicts, strict=True), records)
        if answer.error is not None:
            raise answer.error
        for message, verdict in zip(new, verdicts, strict=True):
            if verdict.kind == "ask":
                key = key_of("asked", message.id, text_of(message))
                records[key] = record(verdict, message.id, text_of(message))
        return self._answer(with_ids(cast("ModelResponse[Any]", answer.value)), records)

    async def _verdict(self, calls: Calls, message: BaseMessage) -> Verdict:
        key = message_key(message)
        if key in self._passed:
            return allow()
        verdict = await self._check.run(calls, text_of(message))
        if verdict.kind == "allow":
            self._passed.add(key)
        return _TOO_LATE if verdict.kind == "revise" else verdict

    def _dropped(self, request: Any, response: Any, checked: Any, records: Any) -> Any:
        """The reason in place of the reply, and notes in place of what did not pass."""
        stored = {m.id for m in request.state["messages"]}
        flagged = [(m, v) for m, v in checked if v.kind != "allow"]
        notes = [removed(m) for m, _ in flagged if m.id in stored]
        verdict = next(v for _, v in flagged if v.kind == "block")
        given: list[Any] = [] if response is None else response.result
        reply = next((m for m in given if isinstance(m, AIMessage)), None)
        return ExtendedModelResponse(
            ModelResponse([self._refusal(verdict, reply)]),
            Command(update={"messages": notes, **(self._keep(records) if records else {})}),
            discards_inner=True,
        )

    def _besides(self, messages: Sequence[BaseMessage], stored: Record) -> list[BaseMessage]:
        """The note in place of the message that a person refused."""
        return [removed(m) for m in messages if m.id == stored.get("item")]


def _unchecked(messages: Sequence[Any], known: Any) -> list[HumanMessage]:
    """Messages that came with the input and are not checked yet, and new ones behind a reply."""
    start = behind_last_reply(messages)
    waiting = {key for key, stored in known.items() if stored["kind"] == "new"}
    return [
        m
        for position, m in enumerate(messages)
        if isinstance(m, HumanMessage)
        and text_of(m)
        and ((position >= start and is_from_user(m)) or (waiting and key_of(m.id) in waiting))
    ]
