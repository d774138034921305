"""Middleware that holds tool calls back until somebody decided about them.

A call passes three points. Behind the model its policy is asked once and the verdict stored;
before the tools, all calls that need a person are asked about; around each call it is checked
that exactly the call that was let through is the one that runs. Whatever comes by a way round the
first two is stopped at the third.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Self, cast

from langchain_core.messages import BaseMessage, ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.config import get_config
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.runtime import Runtime, get_runtime
from langgraph.types import Command

from ...state.reducers import fold_messages, index_messages, stamp_messages
from ...state.schema import AgentState
from ...tools.calls import AWAITING, BLOCKING, Calls, run_inline
from ..base import AgentMiddleware
from ..flows import Flow, flow_layer
from .asking import Decided, ask_alone, ask_now, ask_together, check_can_pause, check_decision
from .breakpoint import BreakpointConfirmationStrategy
from .confirmation import ConfirmationUIResult
from .decision import Action, Decision
from .notice import annotate
from .question import Question
from .review import ReviewState, StateKeys
from .reviewer import Clearance, Moment, Reviewer
from .settlement import Settlement, action_of, answer_message
from .stored import given_in
from .strategy import learn

NOT_APPROVED = (
    "This call to {name!r} was not run: it needs an approval, and there is none for this tool "
    "with exactly these arguments."
)


class ReviewMiddleware(AgentMiddleware[Any, Any, Any]):
    """Holds calls back by the rules of a :class:`Reviewer`.

    It does not declare that it interrupts: a step is split when somebody is asked, and not each
    time that nobody has to be. Up to the pause ``before_tools`` changes nothing, so it may run
    twice.
    """

    state_schema: type[Any] = ReviewState
    default_name: ClassVar[str] = "HumanInTheLoopMiddleware"
    """The middleware of this name keeps the plain state keys; others get keys of their own."""

    def __init__(self, reviewer: Reviewer, *, rewrite_edits: bool = False) -> None:
        super().__init__()
        self._reviewer = reviewer
        self._rewrite = rewrite_edits

    def for_agent(self, name: str, tools: Mapping[str, BaseTool]) -> Self:
        """This middleware with the tools of one agent.

        Raises:
            ConfigurationError: A rule names a tool that the agent does not have.
        """
        self._reviewer.rules.check_names(f"Middleware {name!r}", list(tools))
        bound = copy(self)
        keys = self._reviewer.keys
        if name != self.default_name:
            keys = StateKeys.of(name)
            plain = self.state_schema is ReviewState
            bound.state_schema = keys.schema(AgentState if plain else self.state_schema)
        bound._reviewer = replace(self._reviewer, tools=dict(tools), keys=keys)  # noqa: SLF001
        return bound

    def after_model(
        self, state: Any, runtime: Runtime[Any], config: RunnableConfig | None = None
    ) -> dict[str, Any] | None:
        """Ask the policies about the calls of the reply, once, and store what they say."""
        keys = self._reviewer.keys
        verdicts = self._reviewer.verdicts(Moment(state, runtime, config or {}))
        values: dict[str, Any] = {}
        for key in (keys.reviews, keys.edits, keys.given):
            if state.get(key):
                # It belongs to an earlier reply.
                values[key] = {}
        if verdicts:
            values[keys.reviews] = verdicts
        return values or None

    async def aafter_model(
        self, state: Any, runtime: Runtime[Any], config: RunnableConfig | None = None
    ) -> dict[str, Any] | None:
        """``after_model`` in an asynchronous run."""
        return self.after_model(state, runtime, config)

    def before_tools(
        self, state: Any, runtime: Runtime[Any], config: RunnableConfig | None = None
    ) -> dict[str, Any] | None:
        """Have somebody decide about the calls that need it.

        Raises:
            GraphInterrupt: The run pauses until answers come.
            CannotPauseError: It would have to, but nothing stores the pause.
            HITLBreakpointException: The run stops and leaves a snapshot.
        """
        return run_inline(self._decide(BLOCKING, Moment(state, runtime, config or {})))

    async def abefore_tools(
        self, state: Any, runtime: Runtime[Any], config: RunnableConfig | None = None
    ) -> dict[str, Any] | None:
        """``before_tools`` in an asynchronous run."""
        return await self._decide(AWAITING, Moment(state, runtime, config or {}))

    async def _decide(self, calls: Calls, moment: Moment) -> dict[str, Any] | None:
        questions = self._reviewer.questions(moment)
        if not questions:
            return None
        settlement = Settlement(rewrite=self._rewrite)
        open_questions = self._take_given(questions, moment, settlement)
        # Pauses come first: what is asked here and now would be asked again when they end.
        lasting = [q for q in open_questions if q.rule.strategy is None]
        if lasting:
            check_can_pause(lasting, moment.config)
        if lasting and not self._reviewer.per_call:
            for decided in ask_together(lasting, self._follow_up(moment)):
                self._settle(settlement, decided)
        stops = [q for q in open_questions if _stops(q)]
        for question in open_questions:
            if question.rule.strategy is not None and question not in stops:
                self._settle(settlement, await ask_now(calls, question, moment.runtime.context))
        values = settlement.update(moment.state, self._reviewer.keys)
        if stops:
            before: list[BaseMessage] = moment.state["messages"]
            fresh = stamp_messages(values.get("messages", []))
            messages = fold_messages(before, fresh, index_messages(before))
            state = {**moment.state, **values, "messages": messages}
            tools = self._reviewer.tools or {}
            stops[0].rule.strategy.stop(stops, state, self._reviewer.keys.given, tools)
        return values if settlement.reviews else None

    def _take_given(
        self, questions: list[Question], moment: Moment, settlement: Settlement
    ) -> list[Question]:
        """Carry out decisions that came with a snapshot; the questions that remain."""
        given = given_in(moment.state, self._reviewer.keys.given)
        remaining: list[Question] = []
        for question in questions:
            told = given.get(question.id)
            if told is None:
                remaining.append(question)
                continue
            check_decision(question, told["decision"])
            self._settle(settlement, Decided(question, told["decision"], told.get("text")))
        return remaining

    def _follow_up(self, moment: Moment) -> Callable[[Question, Decision], Question | None]:
        return lambda question, decision: self._reviewer.follow_up(question, decision, moment)

    def _settle(self, settlement: Settlement, decided: Decided) -> None:
        question = decided.question
        settlement.add(question, decided.decision, decided.text)
        result = _as_ui_result(decided.decision)
        learn(question.rule.policy, question.description, question.call, result)

    def _guard(self, request: ToolCallRequest) -> Flow[Any] | None:
        """Run a call as it was approved and no other, ask about it now, or refuse it."""
        return None if self._reviewer.passes(request.tool_call["name"]) else self._held(request)

    wrap_tool_call, awrap_tool_call = flow_layer(_guard)

    def _held(self, request: ToolCallRequest) -> Flow[Any]:
        """Do what was decided about a call."""
        call = request.tool_call
        moment = Moment(request.state or {}, _runtime(), _config())
        clearance = self._clearance(call, moment)
        if clearance.outcome == "refuse":
            return _refusal(call)
        if clearance.outcome == "ask":
            return (yield from self._asked(request, moment))
        if clearance.action is not None:
            request = self._edited(request, clearance.action)
        result = yield request
        return annotate(result, clearance.note, cast("str", call["id"]))

    def _clearance(self, call: ToolCall, moment: Moment) -> Clearance:
        """Whether a call may run."""
        return self._reviewer.clearance(call, moment)

    def _asked(self, request: ToolCallRequest, moment: Moment) -> Flow[Any]:
        """Ask about a call that is about to run, and do what is decided."""
        question = self._reviewer.asked_alone(request.tool_call, moment)
        decided = ask_alone(question, self._follow_up(moment))
        settlement = Settlement()
        self._settle(settlement, decided)
        if decided.decision["type"] in ("reject", "respond"):
            return answer_message(decided.question, decided.decision)
        action = action_of(decided.question, decided.decision)
        note = settlement.reviews[question.id].get("note")
        if question.id in settlement.edits:
            request = self._edited(request, action)
        result = annotate((yield request), note, question.id)
        if not settlement.confirmed:
            return result
        return _also(result, {self._reviewer.keys.confirmed: settlement.confirmed})

    def _edited(self, request: ToolCallRequest, action: Action) -> ToolCallRequest:
        """The request with what was decided in place of what the model asked for.

        Raises:
            ValueError: The decided tool is not there.
        """
        call = cast("ToolCall", {**request.tool_call, **action})
        if action["name"] == request.tool_call["name"]:
            return request.override(tool_call=call)
        available = {t.name: t for t in request.runtime.tools}
        tool = available.get(action["name"])
        if tool is None:
            msg = (
                f"Call {call['id']!r} was edited to run {action['name']!r}, which is not an "
                f"available tool; the tools are {', '.join(sorted(available))}."
            )
            raise ValueError(msg)
        return request.override(tool_call=call, tool=tool)


def _stops(question: Question) -> bool:
    return isinstance(question.rule.strategy, BreakpointConfirmationStrategy)


def _refusal(call: ToolCall) -> ToolMessage:
    return ToolMessage(
        NOT_APPROVED.format(name=call["name"]),
        name=call["name"],
        tool_call_id=cast("str", call["id"]),
        status="error",
    )


def _as_ui_result(decision: Decision) -> ConfirmationUIResult:
    """A decision in the words of policies that learn."""
    if decision["type"] == "edit":
        params = decision["edited_action"]["args"]
        return ConfirmationUIResult("modify", decision.get("message"), params)
    if decision["type"] == "approve":
        return ConfirmationUIResult("confirm", decision.get("message"))
    said = decision.get("message")
    return ConfirmationUIResult("reject" if decision["type"] == "reject" else "respond", said)


def _also(result: Any, update: Mapping[str, Any]) -> Any:
    """A tool's result that also updates state."""
    if isinstance(result, ToolMessage):
        return Command(update={"messages": [result], **update})
    more: Command[Any] = Command(update=dict(update))
    return [*cast("list[Any]", result), more] if isinstance(result, list) else [result, more]


def _config() -> RunnableConfig:
    """The config of the running node; empty where a hook is called by hand."""
    try:
        return get_config()
    except RuntimeError:
        return {}


def _runtime() -> Runtime[Any]:
    try:
        return get_runtime()
    except (RuntimeError, KeyError):
        return Runtime()
