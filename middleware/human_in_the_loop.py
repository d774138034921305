"""``HumanInTheLoopMiddleware``: reviews in LangChain's terms; code and inboxes go on working.

Source: the arguments, payloads, decisions and texts of LangChain 1.5.2. What differs: answers are
checked before they are stored, an edit may not name another tool unless that is allowed, verdicts
are taken once, and calls can be answered one by one by their ids.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NotRequired, cast, get_args

from langchain_core.messages import ToolCall
from langchain_core.runnables import RunnableConfig
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.runtime import Runtime
from langgraph.types import interrupt
from typing_extensions import TypedDict

from ..state.errors import ConfigurationError
from .approval.answer import read_answer
from .approval.decision import DECISION_TYPES, DecisionType
from .approval.middleware import ReviewMiddleware
from .approval.policy import AlwaysAskPolicy, PredicatePolicy
from .approval.question import review_request
from .approval.review import StateKeys
from .approval.reviewer import DESCRIPTION_PREFIX, Clearance, Moment, Reviewer
from .approval.rule import Rule, RuleBook, ToolKey, check_decisions
from .approval.settlement import Settlement
from .approval.stored import edits_in
from .approval.wording import EDIT_NOTICE as _EDIT_NOTICE
from .approval.wording import NoticeWording

InterruptMode = Literal["batched", "per_call"]
"""One pause for all calls of a turn, or one for each call when it is about to run."""

_EDITED_TOOL_CALLS_KEY = StateKeys.edits


class InterruptOnConfig(TypedDict):
    """How calls of a tool are reviewed."""

    allowed_decisions: list[DecisionType]
    """What a reviewer may decide; at least one."""
    description: NotRequired[str | Callable[[ToolCall, Any, Runtime[Any]], str]]
    """What the reviewer reads, or a function that writes it."""
    args_schema: NotRequired[dict[str, Any]]
    """A JSON schema to show beside the call. What counts is the tool's own, which the schema of
    the answer holds."""
    when: NotRequired[Callable[[ToolCallRequest], bool]]
    """Whether a call needs a review. Asked once per call; one that fails means yes."""


class HumanInTheLoopMiddleware(ReviewMiddleware):
    """Pauses the run until a person has decided about the calls of certain tools.

    Args:
        interrupt_on: What is reviewed, by tool name, by a tuple of names, or ``"*"`` for every
            other tool: True allows every decision, False none is needed.
        description_prefix: First line of a description that no rule gives.
        edit_notice: Put before the result of an edited call; None puts nothing there.
        interrupt_mode: ``"batched"`` or ``"per_call"``.
        allow_tool_change: An edit may name another tool of the agent; that tool's own rule then
            applies to the new call.
        rewrite_edits: Write an edit into the model's message. Otherwise the message keeps the
            call as the model made it, and the result says what ran.

    Raises:
        ConfigurationError: A rule is empty, unknown or misspelled.
    """

    def __init__(
        self,
        interrupt_on: Mapping[Any, bool | InterruptOnConfig],
        *,
        description_prefix: str = DESCRIPTION_PREFIX,
        edit_notice: str | None = _EDIT_NOTICE,
        interrupt_mode: InterruptMode = "batched",
        allow_tool_change: bool = False,
        rewrite_edits: bool = False,
    ) -> None:
        if interrupt_mode not in get_args(InterruptMode):
            msg = f"interrupt_mode must be 'batched' or 'per_call', got {interrupt_mode!r}."
            raise ConfigurationError(msg)
        self.interrupt_mode = interrupt_mode
        self.description_prefix = description_prefix
        self.edit_notice = edit_notice
        wording = NoticeWording(edit_notice)
        rules = {key: _rule(key, config, wording) for key, config in interrupt_on.items()}
        self.interrupt_on = {
            key: InterruptOnConfig(allowed_decisions=list(DECISION_TYPES))
            if config is True
            else config
            for key, config in interrupt_on.items()
            if config is not False
        }
        reviewer = Reviewer(
            rules=RuleBook(rules),
            prefix=description_prefix,
            per_call=interrupt_mode == "per_call",
            allow_tool_change=allow_tool_change,
        )
        super().__init__(reviewer, rewrite_edits=rewrite_edits)

    def after_model(
        self, state: Any, runtime: Runtime[Any], config: RunnableConfig | None = None
    ) -> dict[str, Any] | None:
        """Take the verdicts about the calls of the reply.

        Called by hand, or in an agent of LangChain's, which has no hook before its tools, it asks
        for the decisions as well.

        Raises:
            InvalidDecisionError: Called by hand only: the answer is wrong.
        """
        if self._reviewer.tools is not None:
            return super().after_model(state, runtime, config)
        if self.interrupt_mode == "per_call":
            return None
        return self._decide_at_once(Moment(state, runtime, config or {}))

    def _decide_at_once(self, moment: Moment) -> dict[str, Any] | None:
        """Verdicts, the pause and the decisions in one go."""
        questions = self._reviewer.questions(moment, self._reviewer.verdicts(moment))
        if not questions:
            return (
                {_EDITED_TOOL_CALLS_KEY: {}} if moment.state.get(_EDITED_TOOL_CALLS_KEY) else None
            )
        decisions = read_answer(interrupt(review_request(questions)), [q.asked for q in questions])
        settlement = Settlement()
        for question in questions:
            settlement.add(question, decisions[question.id])
        return {
            "messages": [questions[0].reply, *settlement.answers],
            _EDITED_TOOL_CALLS_KEY: settlement.edits,
        }

    def _clearance(self, call: ToolCall, moment: Moment) -> Clearance:
        if self._reviewer.tools is not None or self.interrupt_mode == "per_call":
            return super()._clearance(call, moment)
        # Without an agent of ours nothing but edits was noted when the calls were decided about.
        action = edits_in(moment.state, _EDITED_TOOL_CALLS_KEY).get(cast("str", call["id"]))
        note = None if action is None else NoticeWording(self.edit_notice).edited(action, None)
        return Clearance("run", action, note)


def _rule(key: ToolKey, config: Any, wording: NoticeWording) -> Rule | None:
    """One entry of ``interrupt_on`` as a rule.

    Raises:
        ConfigurationError: It is neither a bool nor a valid configuration.
    """
    if isinstance(config, bool):
        return Rule(wording=wording) if config else None
    if not isinstance(config, Mapping):
        msg = f"interrupt_on[{key!r}] is {config!r}; give True, False or a dict."
        raise ConfigurationError(msg)
    given = cast("Mapping[str, Any]", config)
    known = list(InterruptOnConfig.__annotations__)
    if unknown := [k for k in given if k not in known]:
        msg = f"interrupt_on[{key!r}] has no setting {unknown[0]!r}; its settings are {known}."
        raise ConfigurationError(msg)
    when = given.get("when")
    if when is not None and not callable(when):
        msg = f"interrupt_on[{key!r}] has when={when!r}; give a function of the request."
        raise ConfigurationError(msg)
    return Rule(
        allowed=check_decisions(key, given.get("allowed_decisions")),
        policy=AlwaysAskPolicy() if when is None else PredicatePolicy(when),
        description=given.get("description"),
        args_schema=given.get("args_schema"),
        wording=wording,
    )
