"""How a person is asked: strategies, one per tool.

Source: the confirmation strategies of Haystack 3.4.1; ``HumanInTheLoopStrategy`` is the name that
its documentation uses. Without a user interface the strategy pauses the run, which can then wait
for days and go on in another process.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from inspect import iscoroutinefunction
from typing import Any, Protocol, cast

from langchain_core.messages import ToolCall

from ...state.errors import ConfigurationError
from ...tools.calls import AWAITING, BLOCKING, Calls, Dual, run_inline
from .confirmation import ConfirmationUIResult, ToolExecutionDecision, wire_decision
from .decision import Action, Decision
from .policy import AlwaysAskPolicy, ConfirmationPolicy
from .question import Question
from .serialization import from_plain, to_plain
from .ui import ConfirmationUI
from .wording import MODIFY_TEMPLATE, REJECT_TEMPLATE, USER_FEEDBACK_TEMPLATE, TemplateWording


@dataclass(frozen=True)
class Inquiry:
    """What a strategy is given."""

    call: ToolCall
    description: str
    """The tool's description, and what else the person should know."""
    context: Any = None
    """The run's own context, as it is: connections, queues, clients."""

    @classmethod
    def of(cls, question: Question, context: Any, problem: Exception | None = None) -> Inquiry:
        """A question for a strategy; ``problem`` is why the last answer was refused."""
        tool = question.tools.get(question.call["name"])
        lines = [tool.description if tool is not None else "", *question.remarks]
        if problem is not None:
            lines.append(str(problem))
        text = "\n\n".join(line for line in lines if line)
        return cls(call=question.call, description=text, context=context)

    def arguments(self) -> dict[str, Any]:
        """The keywords of a strategy's ``run``."""
        return {
            "tool_name": self.call["name"],
            "tool_description": self.description,
            "tool_params": dict(self.call["args"]),
            "tool_call_id": self.call["id"],
            "confirmation_strategy_context": self.context,
        }


class ConfirmationStrategy(Protocol):
    """Decides what becomes of a call, by asking somebody. ``run_async`` may be left out."""

    def run(
        self,
        *,
        tool_name: str,
        tool_description: str,
        tool_params: dict[str, Any],
        tool_call_id: str | None = None,
        confirmation_strategy_context: Any = None,
    ) -> ToolExecutionDecision:
        """The decision about one call."""
        ...


class HumanInTheLoopStrategy:
    """A policy says whether a person is asked, a user interface asks.

    Args:
        confirmation_policy: When to ask; always by default.
        confirmation_ui: How to ask. None pauses the run until an answer comes, which takes a
            checkpointer.
        reject_template: What the model reads of a rejected call; may name ``{tool_name}``.
        modify_template: What it reads of a changed call; may name ``{tool_name}`` and
            ``{final_tool_params}``.
        user_feedback_template: How the person's words are added; may name ``{feedback}``.
    """

    def __init__(
        self,
        *,
        confirmation_policy: ConfirmationPolicy | None = None,
        confirmation_ui: ConfirmationUI | None = None,
        reject_template: str = REJECT_TEMPLATE,
        modify_template: str = MODIFY_TEMPLATE,
        user_feedback_template: str = USER_FEEDBACK_TEMPLATE,
    ) -> None:
        self.confirmation_policy: ConfirmationPolicy = confirmation_policy or AlwaysAskPolicy()
        self.confirmation_ui = confirmation_ui
        self.wording = TemplateWording(reject_template, modify_template, user_feedback_template)
        if not callable(getattr(self.confirmation_policy, "should_ask", None)):
            msg = f"{confirmation_policy!r} is no policy; give an object with should_ask."
            raise ConfigurationError(msg)
        if confirmation_ui is not None and not hasattr(confirmation_ui, "get_user_confirmation"):
            msg = f"{confirmation_ui!r} is no user interface; give one with get_user_confirmation."
            raise ConfigurationError(msg)

    def run(self, **inquiry: Any) -> ToolExecutionDecision:
        """The decision about one call, policy first; see :class:`ConfirmationStrategy`.

        Raises:
            ConfigurationError: There is no user interface; an agent would pause here.
        """
        return run_inline(self._run(BLOCKING, **inquiry))

    async def run_async(self, **inquiry: Any) -> ToolExecutionDecision:
        """:meth:`run` on an event loop, which a user interface does not block."""
        return await self._run(AWAITING, **inquiry)

    async def ask(self, calls: Calls, inquiry: Inquiry) -> ToolExecutionDecision:
        """What a person decides about a call, whatever the policy says."""
        result = await self._ask_person(calls, inquiry)
        return self._decision(inquiry.call, result)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, policy and user interface in it by the names of their classes."""
        return to_plain(
            self,
            confirmation_policy=to_plain(self.confirmation_policy),
            confirmation_ui=to_plain(self.confirmation_ui) if self.confirmation_ui else None,
            **self.wording.to_dict(),
        )

    @classmethod
    def from_dict(
        cls, data: Mapping[str, Any], registry: Mapping[str, type[Any]] | None = None
    ) -> HumanInTheLoopStrategy:
        """A strategy from :meth:`to_dict`.

        Args:
            data: The plain data.
            registry: Policies and user interfaces of your own, by class name.

        Raises:
            ConfigurationError: A class is not known, or a parameter is wrong.
        """
        return cast("HumanInTheLoopStrategy", from_plain(data, registry))

    async def _run(
        self,
        calls: Calls,
        *,
        tool_name: str,
        tool_description: str,
        tool_params: dict[str, Any],
        tool_call_id: str | None = None,
        confirmation_strategy_context: Any = None,
    ) -> ToolExecutionDecision:
        policy = self.confirmation_policy
        call = ToolCall(name=tool_name, args=tool_params, id=tool_call_id, type="tool_call")
        if not policy.should_ask(tool_name, tool_description, tool_params):
            return ToolExecutionDecision(tool_name, execute=True, tool_call_id=tool_call_id)
        inquiry = Inquiry(call, tool_description, confirmation_strategy_context)
        result = await self._ask_person(calls, inquiry)
        learn(policy, inquiry.description, call, result)
        return self._decision(call, result)

    async def _ask_person(self, calls: Calls, inquiry: Inquiry) -> ConfirmationUIResult:
        if self.confirmation_ui is None:
            msg = (
                "HumanInTheLoopStrategy has no user interface to ask with; give confirmation_ui, "
                "or use it in an agent, which pauses until an answer comes."
            )
            raise ConfigurationError(msg)
        name, params = inquiry.call["name"], dict(inquiry.call["args"])
        result = await calls.call(_asking(self.confirmation_ui), name, inquiry.description, params)
        if not isinstance(result, ConfirmationUIResult):
            msg = (
                f"{type(self.confirmation_ui).__name__} returned {type(result).__name__}; a user "
                "interface returns a ConfirmationUIResult."
            )
            raise ConfigurationError(msg)
        return result

    def _decision(self, call: ToolCall, result: ConfirmationUIResult) -> ToolExecutionDecision:
        """What a person chose, told in the words of the templates."""
        name, ident, said = call["name"], call["id"], result.feedback
        told: str | None
        if result.action == "reject":
            told = self.wording.rejected(call, said)
            return ToolExecutionDecision(name, False, ident, told)
        if result.action == "respond":
            return ToolExecutionDecision(name, False, ident, response=said)
        params = result.new_tool_params
        if result.action == "modify" and params is not None and params != call["args"]:
            told = self.wording.edited(Action(name=name, args=params), said)
            return ToolExecutionDecision(name, True, ident, told, params)
        told = self.wording.approved(said)
        return ToolExecutionDecision(name, True, ident, told, dict(call["args"]))


BlockingConfirmationStrategy = HumanInTheLoopStrategy
"""Haystack's name for it."""


async def consult(calls: Calls, strategy: Any, inquiry: Inquiry) -> tuple[Decision, str | None]:
    """What a strategy decides about a call, and what the model is to be told of it.

    The policy of our own strategy has spoken before; that of any other one is its own affair.
    """
    if isinstance(strategy, HumanInTheLoopStrategy):
        decision: Any = await strategy.ask(calls, inquiry)
    else:
        arguments = inquiry.arguments()
        run_async = getattr(strategy, "run_async", None)
        function = Dual(
            type(strategy).__name__,
            sync=partial(strategy.run, **arguments),
            asynchronous=partial(run_async, **arguments) if run_async is not None else None,
        )
        decision = await calls.call(function)
    return wire_decision(decision, inquiry.call), decision.feedback


def learn(policy: Any, description: str, call: ToolCall, result: ConfirmationUIResult) -> None:
    """Tell a policy that wants to know what came of its question."""
    update = getattr(policy, "update_after_confirmation", None)
    if update is not None:
        update(call["name"], description, call["args"], result)


def _asking(ui: ConfirmationUI) -> Dual:
    """The user interface in the styles it exists in."""
    name, plain = type(ui).__name__, ui.get_user_confirmation
    if iscoroutinefunction(plain):
        return Dual(name, asynchronous=plain)
    return Dual(name, plain, getattr(ui, "get_user_confirmation_async", None))
