"""What follows from decisions: messages, records and edits, to be written to the state at once."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from langchain_core.messages import AIMessage, ToolMessage, add_notification_metadata

from .decision import Action, Decision, DecisionType, same_action
from .heard import tell
from .policy import confirmation_key
from .question import Question
from .review import Review, StateKeys, fingerprint
from .stored import confirmed_in, edits_in, reviews_in
from .transcript import rewrite_calls

SOURCE = "hitl_interrupt_decision"
"""Marks results that a person's decision produced, under ``additional_kwargs["lc_source"]``."""


@dataclass
class Settlement:
    """The effect of a step's decisions."""

    rewrite: bool = False
    """Write edits into the model's message; otherwise a note says what ran."""
    answers: list[ToolMessage] = field(default_factory=list[ToolMessage])
    """Results of calls that do not run, in the order of the decisions."""
    edits: dict[str, Action] = field(default_factory=dict[str, Action])
    reviews: dict[str, Review] = field(default_factory=dict[str, Review])
    confirmed: dict[str, float] = field(default_factory=dict[str, float])
    reply: AIMessage | None = None
    """The model's message with the edits written into it."""

    def add(self, question: Question, decision: Decision, text: str | None = None) -> None:
        """Take one decision in.

        Args:
            question: What was decided about.
            decision: A decision that may be made.
            text: What the model reads; by default the words of the rule.
        """
        if decision["type"] in ("reject", "respond"):
            self.answers.append(answer_message(question, decision, text))
            self._record(question, decision["type"])
            return
        action = action_of(question, decision)
        made = Action(name=question.made["name"], args=question.made["args"])
        reason, wording = decision.get("message"), question.rule.wording
        if same_action(action, made):
            self._record(question, "approve", text or wording.approved(reason))
            if getattr(question.rule.policy, "remembers", False):
                self.confirmed[confirmation_key(action["name"], action["args"])] = time.time()
            return
        self.edits[question.id] = action
        self._record(question, "edit", text or wording.edited(action, reason))

    def update(self, state: Mapping[str, Any], keys: StateKeys) -> dict[str, Any]:
        """The state update that writes all of it, beside what is there."""
        messages: list[Any] = list(self.answers)
        reviews, edits = dict(self.reviews), dict(self.edits)
        if self.rewrite and self.reply is not None and edits:
            reply = rewrite_calls(self.reply, edits)
            messages.insert(0, reply)
            for ident, action in edits.items():
                call = fingerprint(reply, action["name"], action["args"])
                reviews[ident] = {**reviews[ident], "call": call, "decision": "approve"}
            edits = {}
        values: dict[str, Any] = {keys.reviews: {**reviews_in(state, keys.reviews), **reviews}}
        if edits or state.get(keys.edits):
            values[keys.edits] = {**edits_in(state, keys.edits), **edits}
        if self.confirmed:
            confirmed_in(state, keys.confirmed)
            values[keys.confirmed] = self.confirmed
        if state.get(keys.given):
            values[keys.given] = {}
        if messages:
            values["messages"] = messages
        return values

    def _record(self, question: Question, kind: DecisionType, note: str | None = None) -> None:
        self.reply, made = question.reply, question.made
        call = fingerprint(question.reply, made["name"], made["args"])
        self.reviews[question.id] = Review(call=call, ask=True, decision=kind)
        tell(made["name"], question.id, kind)
        if note:
            self.reviews[question.id]["note"] = note


def action_of(question: Question, decision: Decision) -> Action:
    """What runs after an approval or an edit."""
    if decision["type"] == "edit":
        return decision["edited_action"]
    return Action(name=question.call["name"], args=question.call["args"])


def answer_message(question: Question, decision: Decision, text: str | None = None) -> ToolMessage:
    """The result of a call that a person rejected or answered."""
    call = question.made
    responded = decision["type"] == "respond"
    reason = decision.get("message")
    content = reason or "" if responded else text or question.rule.wording.rejected(call, reason)
    message = ToolMessage(
        content,
        name=call["name"],
        tool_call_id=question.id,
        status="success" if responded else "error",
    )
    # langchain-core types it for one kind of message and writes it to any.
    marked = add_notification_metadata(
        cast("Any", message), source=SOURCE, data={"decision": decision["type"]}
    )
    return cast("ToolMessage", cast("object", marked))
