"""The review itself: which calls wait, what they are asked as, and what may run.

Everything here is decided from the state and the rules; nothing is asked and nothing is run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, cast

from langchain_core.messages import AIMessage, ToolCall
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.runtime import Runtime

from ...state.history import last_ai_message
from ...tools.injection import tool_runtime
from .decision import Action, Decision
from .policy import ReviewContext, verdict_of
from .question import UNKNOWN_TOOL, Question
from .review import Review, StateKeys, fingerprint, open_calls, review_of
from .rule import Rule, RuleBook
from .stored import confirmed_in, edits_in, reviews_in

DESCRIPTION_PREFIX = "Tool execution requires approval"


@dataclass(frozen=True)
class Clearance:
    """Whether one call may run now."""

    outcome: Literal["run", "ask", "refuse"]
    action: Action | None = None
    """What runs in place of the call, if a person changed it."""
    note: str | None = None
    """What the model is told before the result."""


RUN, ASK, REFUSE = Clearance("run"), Clearance("ask"), Clearance("refuse")


class Moment(NamedTuple):
    """Where in a run the review takes place."""

    state: Mapping[str, Any]
    runtime: Runtime[Any]
    config: RunnableConfig


@dataclass(frozen=True)
class Reviewer:
    """The rules of one middleware, and the tools of the agent it belongs to."""

    rules: RuleBook
    prefix: str = DESCRIPTION_PREFIX
    tools: Mapping[str, BaseTool] | None = None
    """The agent's tools by name; None while there is no agent."""
    keys: StateKeys = field(default_factory=StateKeys)
    per_call: bool = False
    """Each call pauses on its own, when it is about to run."""
    allow_tool_change: bool = False
    """An edit may name another tool, whose own rule then applies as well."""

    def verdicts(self, moment: Moment) -> dict[str, Review]:
        """Whether a person must decide, for each open call that has a rule."""
        found = open_calls(moment.state, self.rules.of)
        if found is None:
            return {}
        reply, calls = found
        verdicts: dict[str, Review] = {}
        for call in calls:
            rule = cast("Rule", self.rules.of(call["name"]))
            verdict = verdict_of(
                rule.policy, self._tool_description(call), self._context(reply, call, moment)
            )
            review = Review(call=fingerprint(reply, call["name"], call["args"]), ask=verdict.ask)
            if verdict.problem:
                review["problem"] = verdict.problem
            verdicts[cast("str", call["id"])] = review
        return verdicts

    def questions(
        self, moment: Moment, reviews: Mapping[str, Review] | None = None
    ) -> list[Question]:
        """The calls that wait for a decision, in call order.

        A call without a verdict is asked about: it came by a way round the policies, or was
        changed since.
        """
        found = open_calls(moment.state, self.rules.of)
        if found is None:
            return []
        reply, calls = found
        known = self._reviews(moment.state) if reviews is None else reviews
        questions: list[Question] = []
        for call in calls:
            rule = cast("Rule", self.rules.of(call["name"]))
            review = review_of(known, reply, call)
            if review is None or (review["ask"] and "decision" not in review):
                questions.append(self.question(reply, call, rule, moment, review))
        return questions

    def question(
        self, reply: AIMessage, call: ToolCall, rule: Rule, moment: Moment, review: Review | None
    ) -> Question:
        """A call as a person is asked about it."""
        remarks: list[str] = []
        if self.tools is not None and call["name"] not in self.tools:
            remarks.append(UNKNOWN_TOOL)
        if review is not None and (problem := review.get("problem")):
            remarks.append(f"The policy could not tell whether to ask: {problem}")
        targets: dict[str, BaseTool | None] = {call["name"]: (self.tools or {}).get(call["name"])}
        if self.allow_tool_change:
            targets |= self.tools or {}
        return Question(
            reply=reply,
            made=call,
            call=call,
            rule=rule,
            title=self._title(call, rule, moment),
            tools=targets,
            remarks=tuple(remarks),
        )

    def follow_up(self, question: Question, decision: Decision, moment: Moment) -> Question | None:
        """The question that an edit raises: another tool's own rule applies to the new call."""
        if decision["type"] != "edit":
            return None
        action = decision["edited_action"]
        rule = self.rules.of(action["name"])
        if action["name"] == question.call["name"] or rule is None:
            return None
        call = cast("ToolCall", {**question.call, **action})
        return replace(self.question(question.reply, call, rule, moment, None), made=question.made)

    def passes(self, name: str) -> bool:
        """Whether calls of a tool run without a review, whatever is known about them."""
        return self.tools is not None and self.rules.of(name) is None

    def clearance(self, call: ToolCall, moment: Moment) -> Clearance:
        """Whether a call may run: only exactly as it was let through, or as it was edited."""
        state, ident = moment.state, cast("str", call["id"])
        rule = self.rules.of(call["name"])
        if rule is None:
            return RUN
        edits = edits_in(state, self.keys.edits)
        review = self._review(call, moment)
        decision = None if review is None else review.get("decision")
        note = None if review is None else review.get("note")
        if decision == "edit" and ident in edits:
            return Clearance("run", edits[ident], note)
        if decision == "approve":
            return Clearance("run", None, note)
        if review is not None and not review["ask"]:
            return RUN
        return ASK if self.per_call and rule.strategy is None and decision is None else REFUSE

    def asked_alone(self, call: ToolCall, moment: Moment) -> Question:
        """The question about a call that is about to run."""
        reply = self._reply(moment.state) or AIMessage("", tool_calls=[call])
        rule = cast("Rule", self.rules.of(call["name"]))
        return self.question(reply, call, rule, moment, self._review(call, moment))

    def _review(self, call: ToolCall, moment: Moment) -> Review | None:
        """What is known about a call that is about to run."""
        if self.tools is None:
            return self.verdicts(moment).get(cast("str", call["id"]))
        reply = self._reply(moment.state)
        return None if reply is None else review_of(self._reviews(moment.state), reply, call)

    def _reviews(self, state: Mapping[str, Any]) -> Mapping[str, Review]:
        return reviews_in(state, self.keys.reviews)

    def _reply(self, state: Mapping[str, Any]) -> AIMessage | None:
        found = last_ai_message(state.get("messages") or [])
        return found[1] if found is not None else None

    def _tool_description(self, call: ToolCall) -> str:
        tool = (self.tools or {}).get(call["name"])
        return tool.description if tool is not None else ""

    def _context(self, reply: AIMessage, call: ToolCall, moment: Moment) -> ReviewContext:
        tools = self.tools or {}
        runtime = tool_runtime(moment.state, call["id"], moment.config, moment.runtime, tools)
        request = ToolCallRequest(
            tool_call=call, tool=tools.get(call["name"]), state=moment.state, runtime=runtime
        )
        return ReviewContext(
            request=request, reply=reply, confirmed=confirmed_in(moment.state, self.keys.confirmed)
        )

    def _title(self, call: ToolCall, rule: Rule, moment: Moment) -> str:
        if callable(rule.description):
            return rule.description(call, moment.state, moment.runtime)
        if rule.description is not None:
            return rule.description
        return f"{self.prefix}\n\nTool: {call['name']}\nArgs: {call['args']}"
