"""The model phase: a valid history, one model call, and what its reply means for the run."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, cast

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolCall,
    ToolMessage,
    add_notification_metadata,
)
from langgraph.errors import GraphBubbleUp, GraphInterrupt, is_invalid_resume
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from ..middleware.request import ModelRequest, ModelResponse
from ..state.errors import InvalidUpdateError
from ..state.finish import finish_of
from ..state.history import (
    answered_ids,
    invalid_call_answers,
    last_ai_message,
    pending_calls,
    repair_history,
)
from .engine import was_resumed
from .layer_updates import refuse_clash
from .model_call import ModelCall, Reply
from .paid_replies import PaidReplies
from .partial_stream import PartialStream, custom_writer
from .routing import Step, after_model, says_something
from .stretch import Stretch

logger = logging.getLogger(__name__)

CUT_OFF = (
    "This call was not run: the reply was cut off by the length limit, so its arguments may be "
    "incomplete. Call the tool again, with shorter arguments."
)
SURPASSED = (
    "This call was not run: another message came after it in the same reply, and only the calls of "
    "the last one are run. Call the tool again if it is still needed."
)
NOT_RUN = "This call was not run: the run ended first ({reason})."
FRESH_ID = "lc_run-"
"""How langchain-core begins the id that it gives to a new reply."""

NOTICE = "interlock"
"""Marks messages that the runner adds, under ``additional_kwargs["lc_source"]``."""


class ModelPhase:
    """Calls the model and keeps the books of a step."""

    def __init__(self, stretch: Stretch) -> None:
        self._observed = stretch.watchers.observed
        self._streamed = stretch.watchers.streamed
        self._durable = stretch.watchers.durable
        self._contributions = stretch.contributions
        self._plan = stretch.plan
        self._work = stretch.work
        self._ledger = stretch.ledger
        self._calls = stretch.calls
        self._config = stretch.config
        self._runtime = stretch.runtime
        self._tools = stretch.tools
        self.refused: InvalidUpdateError | None = None
        """Why the updates of the layers were not taken with the last reply."""
        self.paid = False
        """The model gave a reply that must not be asked for again."""
        self._kept = stretch.ledger.take_kept()

    def begin(self) -> None:
        """Begin a run: fill in defaults, forget the last run's structured answer."""
        for key, make in self._plan.defaults.items():
            if key not in self._work.values:
                self._work.apply({key: make()}, "the default of the schema")
        if self._work.values.get("structured_response") is not None:
            self._work.put("structured_response", None)
        messages = self._work.messages
        if messages and all(isinstance(m, SystemMessage) for m in messages):
            logger.warning(
                "The run has no message but system messages; many providers refuse that."
            )

    async def run(self, *, dirty: bool) -> None:
        """Ask the model and take its reply into the state.

        Args:
            dirty: Something took effect in this node, so a failure or a pause is stored anyway.
        """
        self._repair()
        self._tools.renew()
        writer = custom_writer(self._runtime)
        kept, self._kept = self._kept, []
        paid = PaidReplies(kept)
        call = ModelCall(
            binder=self._tools.binder,
            layers=self._plan.hooks.wraps["wrap_model_call"],
            calls=self._calls,
            config=self._config,
            observed=self._observed,
            output=self._plan.output,
            with_tools=self._plan.exits.calls_tools,
            failures=tuple(self._ledger.output_attempts),
            name=self._plan.name,
            paid=paid,
            partials=writer and PartialStream(writer, self._calls),
        )
        request = self._request()
        sent: list[BaseMessage] | None = [*request.messages] if call.layers else None
        try:
            reply = await call.run(request)
        except Exception as error:
            self._keep(paid, error, dirty=dirty)
            raise
        if sent is not None:
            self._keep_changes(sent, cast("list[BaseMessage]", request.messages))
        self._take(call, reply)
        self.paid = True

    def route(self) -> Step:
        """Where to go after the reply and the hooks behind it."""
        if (reason := self._ledger.output_failed) is not None:
            self._ledger.output_failed = None
            return Step("exit", reason, self._work.messages[-1].id)
        return after_model(self._work.messages, self._ledger, self._plan.exits)

    def close_step(self) -> None:
        """Count the step that a reply began, once."""
        if self._ledger.open_step:
            self._ledger.open_step = False
            if not self._ledger.final_answer:
                self._ledger.step_count += 1

    def ask_again(self, step: Step, limited: Step) -> None:
        """Prepare another model call: drop an empty reply, say what is missing."""
        if step.drop_reply and (found := last_ai_message(self._work.messages)) is not None:
            self._work.apply({"messages": [RemoveMessage(str(found[1].id))]}, NOTICE)
        if limited is not step:
            self._ledger.final_answer = True
        if limited.nudge is not None:
            note = add_notification_metadata(HumanMessage(limited.nudge), source=NOTICE)
            self._work.apply({"messages": [note]}, NOTICE)

    def close_calls(self) -> None:
        """Answer calls that the end of the run leaves open, so that the thread stays valid."""
        reason = self._ledger.exit_reason
        text = NOT_RUN.format(reason=reason)
        answers = [_refusal(call, text) for call in pending_calls(self._work.messages)]
        if answers:
            self._work.append(cast("list[BaseMessage]", answers))

    def _repair(self) -> None:
        """Make the conversation valid, looking only at what came since the last time."""
        messages = self._work.messages
        repair = repair_history(messages, self._checked(messages))
        if repair.changed and repair.appended:
            self._work.append(cast("list[BaseMessage]", repair.added))
        elif repair.changed:
            everything = [RemoveMessage(REMOVE_ALL_MESSAGES), *repair.messages]
            self._work.apply({"messages": everything}, NOTICE)
        messages = self._work.messages
        self._ledger.checked = (len(messages), str(messages[-1].id)) if messages else None

    def _checked(self, messages: list[BaseMessage]) -> int:
        """How many messages are known to be valid: up to a message that is still in its place."""
        if self._ledger.checked is None:
            return 0
        count, ident = self._ledger.checked
        if count > len(messages) or messages[count - 1].id != ident:
            return 0
        # A call at the border may have its results behind it.
        return count if not isinstance(messages[count - 1], AIMessage) else count - 1

    def _request(self) -> ModelRequest[Any]:
        plan = self._plan
        self._work.show(self._ledger.outputs())
        tools = [] if self._ledger.final_answer else self._tools.executor.tools.offered
        return ModelRequest(
            model=plan.model,
            messages=list(self._work.messages),
            system_message=plan.system_message,
            tools=tools,
            response_format=None if self._ledger.final_answer else plan.output.strategy,
            state=self._work.snapshot(),
            runtime=self._runtime,
            model_settings=dict(plan.model_settings),
        )

    def _keep_changes(self, sent: list[BaseMessage], now: list[BaseMessage]) -> None:
        """Take over what layers did to the list of messages itself."""
        if now[: len(sent)] == sent:
            if len(now) > len(sent):
                self._work.apply({"messages": now[len(sent) :]}, "wrap_model_call")
            return
        everything = [RemoveMessage(REMOVE_ALL_MESSAGES), *now]
        self._work.apply({"messages": everything}, "wrap_model_call")

    def _keep(self, paid: PaidReplies, error: Exception, *, dirty: bool) -> None:
        """Keep what was paid for although a layer failed or pauses, for the next try of the step.

        Not in a superstep that has been resumed: the answers to its pauses would be lost with it.
        """
        paid.count(self._ledger)
        pauses = isinstance(error, GraphInterrupt)
        leaves = isinstance(error, GraphBubbleUp) and not pauses
        withheld = any(layer.withholds for layer in self._plan.hooks.wraps["wrap_model_call"])
        if withheld or not self._durable or leaves or is_invalid_resume(error):
            return
        if not dirty and was_resumed(self._config):
            return
        # A layer that fails on the same reply again is to get another one the next time.
        self._ledger.kept = paid.to_keep(repeated=pauses)
        self.paid = bool(paid.to_keep(repeated=False)) or (paid.repeats and not pauses)

    def _take(self, call: ModelCall, reply: Reply) -> None:
        """Merge a reply and the updates of the layers, and count what it cost."""
        response = reply.response
        ledger = self._ledger
        ledger.open_step = True
        ledger.running, ledger.direct, ledger.decided = [], [], None
        answered = response.structured_response is not None
        again = call.asks_again or _surpassed(response)
        ledger.output = "answered" if answered else "again" if again else None
        ledger.output_attempts = list(call.failures)
        if call.failed is not None:
            ledger.output_failed = call.failed.exit_reason
        messages = with_answers(response)
        call.paid.count(ledger, messages)
        fruitful = any(isinstance(m, AIMessage) and says_something(m) for m in messages)
        ledger.fruitless_replies = 0 if fruitful else ledger.fruitless_replies + 1
        if not call.layers and all(m.id is None or m.id.startswith(FRESH_ID) for m in messages):
            self._work.append(messages)
        else:
            self._work.apply({"messages": messages}, "the model")
        if answered:
            self._work.put("structured_response", response.structured_response)
        self.refused = None
        if reply.updates:
            self._take_updates(reply.updates, answered=answered)

    def _take_updates(
        self, updates: Sequence[tuple[str, Mapping[str, Any]]], *, answered: bool
    ) -> None:
        """Merge what layers wrote: all of it, or nothing and say why."""
        saved = self._work.save()
        try:
            refuse_clash(updates, self._work.rules.channels, answered=answered)
            for layer, update in updates:
                self._work.apply(update, layer)
        except InvalidUpdateError as error:
            self._work.restore(saved)
            self.refused = error
            return
        if self._streamed:
            for layer, update in updates:
                self._contributions.setdefault(layer, []).extend(update)


def with_answers(response: ModelResponse[Any]) -> list[BaseMessage]:
    """The messages of a response, each call that cannot be run answered behind its message."""
    given = response.result
    done = answered_ids(given)
    last = last_ai_message(given)
    messages: list[BaseMessage] = []
    for message in given:
        messages.append(message)
        if not isinstance(message, AIMessage):
            continue
        answers = invalid_call_answers(message)
        if last is not None and message is not last[1]:
            answers += _refusals(message, SURPASSED)
        elif finish_of(message) == "length":
            answers += _refusals(message, CUT_OFF)
        messages += (answer for answer in answers if answer.tool_call_id not in done)
    return messages


def _refusals(reply: AIMessage, text: str) -> list[ToolMessage]:
    """An error result for each call of a reply."""
    return [_refusal(call, text) for call in reply.tool_calls]


def _refusal(call: ToolCall, text: str) -> ToolMessage:
    ident = cast("str", call["id"])
    return ToolMessage(text, tool_call_id=ident, name=call["name"], status="error")


def _surpassed(response: ModelResponse[Any]) -> bool:
    """Whether a message before the last one has open calls: then none was meant to end the run."""
    replies = [m for m in response.result if isinstance(m, AIMessage)]
    calls = [call for reply in replies[:-1] for call in reply.tool_calls]
    return bool(calls) and not answered_ids(response.result) >= {call["id"] for call in calls}
