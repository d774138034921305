"""A guardrail on what a user writes."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from ...state.store_first import StoreFirstError
from ..base import hook_config
from ..flows import Flow
from ..message_text import text_of
from .check import GuardedCheck
from .guard import CheckedMiddleware, Update, both_forms, with_text
from .kept import Record, message_key, record, verdict_of
from .users import REMOVED, Passed, behind_last_reply, is_from_user, removed
from .verdict import Verdict, allow


class InputGuardrail(CheckedMiddleware):
    """Checks the text of each message of a user once, before the model sees it.

    All messages of an input are checked before the run begins: what is blocked or revised is
    neither stored nor streamed nor traced. A blocked message leaves a note in the thread, and the
    run ends. A message that a person is to be asked about is stored, because the question may
    wait for days.

    It does not see pictures and files, what tools and other middleware bring in later, nor what
    ``update_state`` puts before a reply of the model.
    """

    def __init__(self, name: str, check: GuardedCheck) -> None:
        super().__init__(name, check)
        self._passed = Passed()

    def _admit(self, messages: Sequence[BaseMessage]) -> Flow[dict[str, Any]]:
        """The messages of an input as they may be stored, and the verdicts on them."""
        admitted: list[BaseMessage] = []
        records: dict[str, Record] = {}
        for given in messages:
            message = given
            if isinstance(given, HumanMessage) and text_of(given) and given.content != REMOVED:
                message = given if given.id else given.model_copy(update={"id": str(uuid.uuid4())})
                verdict = yield from self._verdict(message)
                message = _after(message, verdict)
                # What was revised may pass as it is now.
                stays = allow() if verdict.kind == "revise" else verdict
                records[message_key(message)] = record(stays, message.id, text_of(message))
            admitted.append(message)
        return {"messages": admitted, **(self._keep(records) if records else {})}

    filter_input, afilter_input = both_forms(_admit)

    def _look(self, state: Mapping[str, Any]) -> Flow[Update]:
        """Act on the verdicts, give those that are missing, and ask where a check wants it."""
        known = self._records(state)
        found = _open(state["messages"], known)
        fresh: dict[str, Record] = {}
        for message in found:
            if (key := message_key(message)) not in known:
                verdict = yield from self._verdict(message)
                fresh[key] = record(verdict, message.id, text_of(message))
        if any(stored["kind"] == "ask" for stored in fresh.values()):
            raise StoreFirstError(self._keep(fresh))
        return self._settled(found, known, {**known, **fresh})

    before_agent, abefore_agent = map(hook_config(can_jump_to=["end"]), both_forms(_look))

    def _verdict(self, message: BaseMessage) -> Flow[Verdict]:
        """The verdict on a message; a history that comes again has it already."""
        key = message_key(message)
        if key in self._passed:
            return allow()
        verdict = yield from self._check.verdict(text_of(message))
        if verdict.kind == "allow":
            self._passed.add(key)
        return verdict

    def _settled(
        self,
        found: Sequence[BaseMessage],
        known: Mapping[str, Record],
        records: Mapping[str, Record],
    ) -> Update:
        """What the verdicts come to; records of earlier runs go."""
        verdicts = [verdict_of(records[message_key(message)]) for message in found]
        blocked = next((v for v in verdicts if v.kind == "block"), None)
        kept: dict[str, Record | None] = dict.fromkeys(known)
        changed: list[BaseMessage] = []
        for message, given in zip(found, verdicts, strict=True):
            verdict = given
            if verdict.kind == "ask":
                # The run ends: nobody is asked any more, and what was in question goes.
                verdict = blocked or self._person(records[message_key(message)])
                blocked = verdict if verdict.kind == "block" else None
            if (new := _after(message, verdict)) is not message:
                changed.append(new)
            elif verdict.kind == "allow":
                kept[message_key(message)] = record(verdict)
        update: dict[str, Any] = {} if kept == known else self._keep(kept)
        if blocked is not None:
            return {
                **update,
                "messages": [*changed, AIMessage(blocked.reason)],
                "stop_run": self._name,
            }
        return {**update, **({"messages": changed} if changed else {})} or None


def _open(messages: list[BaseMessage], known: Mapping[str, Record]) -> list[BaseMessage]:
    """Messages that came with this run, and earlier ones with a question that nobody was asked."""
    start = behind_last_reply(messages)
    found = [m for m in messages[start:] if is_from_user(m) or _is_known(m, known)]
    if any(stored["kind"] == "ask" for stored in known.values()):
        waiting = [m for m in messages[:start] if _is_known(m, known)]
        asked = [m for m in waiting if known[message_key(m)]["kind"] == "ask"]
        return [*asked, *found]
    return found


def _is_known(message: BaseMessage, known: Mapping[str, Record]) -> bool:
    return isinstance(message, HumanMessage) and message_key(message) in known


def _after(message: BaseMessage, verdict: Verdict) -> BaseMessage:
    """What a message becomes."""
    if verdict.kind == "revise":
        return cast("BaseMessage", with_text(message, verdict.value))
    if verdict.kind == "block" and message.content != REMOVED:
        return removed(message)
    return message
