"""Where a phase leads: decisions of the routing and jumps of hooks, as the next phase."""

from __future__ import annotations

from ..state.exit_reasons import EXIT_ERROR
from .failing import Failing
from .model_phase import ModelPhase
from .phases import DONE, ON_ERROR, Go
from .plan import TOOLS
from .routing import JumpRequest, Step, resolve_jump, within_limits
from .stretch import Stretch

_AT_HOME = frozenset({"before_model", "model", "after_model", ON_ERROR})
"""Phases from which the next model call may follow in the same node, in a superstep of its own."""


class Onward:
    """Follows decisions, and keeps the books that belong to each."""

    def __init__(self, stretch: Stretch, models: ModelPhase) -> None:
        self._plan = stretch.plan
        self._work = stretch.work
        self._ledger = stretch.ledger
        self._models = models
        self.at = ""
        """The phase that is under way."""

    def after_agent(self, jump: JumpRequest | None, completed: int) -> Go:
        """Follow a jump of an ``after_agent`` hook, or end.

        Args:
            jump: The jump.
            completed: The position after the hook; if a limit refuses the jump, those from there
                on are left.
        """
        if jump is None or resolve_jump(jump, self._work.messages).to == "exit":
            return DONE
        return DONE if self._ledger.closing else self.jumped(jump, left=completed)

    def answered(self, failing: Failing) -> Go:
        """Follow a jump of ``on_error`` hooks; without one the run ends.

        It ends in any case if an ``after_agent`` hook failed, of which only those behind it are
        left, or if the run has had as many supersteps as it may.
        """
        left = 0
        if failing.place.phase == "after_agent":
            self._ledger.closing = True
            left = failing.place.index + 1
        jump = failing.jump
        if jump is not None and (jump.target == "end" or not self._ledger.closing):
            return self.jumped(jump, left=left)
        return self._exit(Step("exit", EXIT_ERROR), left=left)

    def jumped(self, jump: JumpRequest, *, left: int = 0) -> Go:
        """Follow a jump of a hook.

        Args:
            jump: The jump.
            left: The first ``after_agent`` hook that runs if the run ends now.

        Raises:
            InvalidJumpError: It leads nowhere.
        """
        step = resolve_jump(jump, self._work.messages)
        self._models.close_step()
        if step.to == "exit":
            return self._exit(step, left=left)
        return self.take(step, left=left)

    def take(self, step: Step, *, left: int = 0) -> Go:
        """Follow a decision of the routing; ``left`` is that of :meth:`jumped`."""
        self._go_on()
        if step.to == "tools":
            return Go("before_tools", anew=self.at == ON_ERROR)
        self._models.close_step()
        limited = within_limits(step, self._ledger, self._plan.exits)
        if limited.to == "exit":
            return self._exit(limited, left=left, by_condition=limited is step)
        self._models.ask_again(step, limited)
        return Go("before_model", anew=self.at in _AT_HOME or TOOLS not in self._plan.nodes)

    def leave_for(self, tool: str, message: str | None) -> Go:
        """End the run because a tool hands over to another node of the graph around."""
        return self._exit(Step("exit", tool, message))

    def _go_on(self) -> None:
        """Forget why the run was about to end, if it was."""
        if self._ledger.exit_reason is not None:
            self._ledger.exit_reason = self._ledger.exit_message = None
            self._work.show({"exit_reason": None, "exit_message": None})

    def _exit(self, step: Step, *, left: int = 0, by_condition: bool = False) -> Go:
        """End the run: on_exit hooks only where an exit condition was met."""
        messages = self._work.messages
        self._ledger.exit_reason = step.reason
        self._ledger.exit_message = step.message or (messages[-1].id if messages else None)
        self._models.close_calls()
        if by_condition and self._plan.hooks.has("on_exit"):
            return Go("on_exit")
        return Go("after_agent", left) if self._plan.hooks.has("after_agent") else DONE
