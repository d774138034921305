"""A stretch of a run inside one node: phase after phase, until something needs a boundary.

A run is a sequence of phases. Nodes are only where a stretch may be stored or seen: a node runs
the phases that are at home in it, and leaves when the next phase lives elsewhere, when a hook
pauses the run after something has taken effect, or when several calls are to be stored one by
one. Where it stopped is kept in the ledger's cursor, so nothing before it runs again.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from langchain_core.messages import ToolCall
from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphBubbleUp, GraphInterrupt
from langgraph.types import Command

from ..state.exit_reasons import EXIT_ERROR
from ..state.ledger import Cursor, Ledger
from ..state.store_first import StoreFirstError
from ..state.working import WorkingState
from ..tools.calls import Calls
from .commit import Commit
from .engine import Watchers, runtime_of
from .hand_over import HAND_OVER
from .hooking import HookRunner
from .live_tools import StepTools
from .model_phase import ModelPhase
from .phases import DONE, ENTRY, Boundary, FanOut, Go, Move, Pause
from .plan import MODEL, TOOLS, AgentPlan
from .routing import JumpRequest, Step, resolve_jump, within_limits
from .stretch import Stretch
from .tools_phase import ToolsPhase


class Turn:
    """Runs phases over a working state; made for one execution of one node."""

    def __init__(
        self,
        plan: AgentPlan,
        node: str,
        values: Mapping[str, Any],
        config: RunnableConfig,
        calls: Calls,
    ) -> None:
        self.plan = plan
        self.node = node
        self.watchers = Watchers.of(config)
        state = dict(values)
        stored = state.pop("run_ledger", None)
        state.pop("run_options", None)
        self._failure: Exception | None = state.pop("run_failure", None)
        self._fresh = stored is None
        self.ledger = Ledger.load(stored)
        self.ledger.for_parent = [*self.ledger.for_parent, *(state.pop("for_parent", None) or ())]
        self.work = WorkingState(state, plan.rules)
        self._at = ENTRY[node]
        self._boundary = Boundary(node, self.watchers)
        runtime = runtime_of(config)
        stretch = Stretch(
            plan=plan,
            work=self.work,
            ledger=self.ledger,
            calls=calls,
            config=config,
            runtime=runtime,
            watchers=self.watchers,
            tools=StepTools(plan, self.work),
        )
        self.hooks = HookRunner(stretch)
        self.models = ModelPhase(stretch)
        self.tools = ToolsPhase(stretch)
        durable = self.watchers.durable
        self.commit = Commit(plan, node, self.work, self.ledger, config, durable=durable)
        self.commit.contributions = self.hooks.contributions
        self.tools.for_parent = self.ledger.for_parent

    @property
    def _phases(self) -> Mapping[str, Callable[[int], Coroutine[Any, Any, Go | FanOut]]]:
        return {
            "before_agent": self._before_agent,
            "before_model": self._before_model,
            "model": self._model,
            "after_model": self._after_model,
            "before_tools": self._before_tools,
            "tools": self._tools,
            "after_tools": self._after_tools,
            "on_exit": self._on_exit,
            "after_agent": self._after_agent,
        }

    def keep_options(self, record: dict[str, Any] | None) -> None:
        """Store what the run was given beside its input, before anything can pause it."""
        self.work.put("run_options", record)
        # Written, but nothing that hooks and tools see.
        del self.work.values["run_options"]
        self.hooks.dirty = True

    async def run_call(self, call: ToolCall) -> list[Command[Any]]:
        """Run one call as a task of its own; the next superstep takes up where all have ended."""
        self.tools.for_parent = []
        try:
            self.tools.take(await self.tools.run_one(call))
        except StoreFirstError as pause:
            self.tools.store(pause)
            return self.commit.go(Cursor("tools"), MODEL)
        except GraphBubbleUp:
            raise
        except Exception as error:
            answered, jump = await self.hooks.run_on_error(error)
            if not answered:
                raise
            self.tools.asked = jump.target if jump else "end"
        if self.tools.asked is not None:
            self.work.put("jump_to", self.tools.asked)
        if self.tools.for_parent:
            self.work.put("for_parent", self.tools.for_parent)
        return self.commit.go(Cursor("tools"), MODEL)

    async def run(self) -> list[Command[Any]]:
        """Run phases up to the next boundary.

        Returns:
            The updates of this stretch, the last one with the place to go to.

        Raises:
            GraphBubbleUp: A hook, the model or a tool pauses the run before anything took effect.
            Exception: A failure that no ``on_error`` hook made into an answer.
        """
        go = self._entry()
        if go.phase == HAND_OVER:
            return self.commit.hand_over()
        while True:
            move = await self._advance(go)
            if isinstance(move, Pause):
                return self.commit.pause(move)
            if isinstance(move, FanOut):
                return self.commit.fan_out(move.calls)
            if move is DONE:
                return self.commit.finish(at_once=self.watchers.unwatched)
            if self._boundary.lies_before(move, fans_out=self.tools.fans_out()):
                return self.commit.pause(Pause(Cursor(move.phase, move.index)))
            if self.watchers.unwatched:
                self.hooks.completed.clear()
            go = move

    async def _advance(self, go: Go) -> Move:
        """Run one phase; what must not be repeated makes a pause or a failure a boundary."""
        self._at = go.phase
        try:
            if self._failure is not None:
                error, self._failure = self._failure, None
                raise error  # noqa: TRY301 - it was raised in the superstep before this one
            return await self._phases[go.phase](go.index)
        except GraphInterrupt:
            if not self.hooks.dirty:
                raise
            return Pause(self._place(go))
        except GraphBubbleUp:
            raise
        except Exception as error:  # noqa: BLE001 - a node is where failures are stored or answered
            if self.hooks.dirty and self.watchers.durable:
                return Pause(self._place(go), error)
            return await self._after_failure(error)

    def _entry(self) -> Go:
        """Where this stretch begins: at the cursor, or at the beginning of a run."""
        cursor, self.ledger.cursor = self.ledger.cursor, None
        if cursor is not None:
            return Go(cursor.phase, cursor.index)
        if self._fresh and self.node == MODEL:
            self.models.begin()
            return Go("before_agent")
        return Go(ENTRY[self.node])

    def _place(self, go: Go) -> Cursor:
        """The first hook of the current phase that has not completed."""
        return Cursor(go.phase, self.hooks.completed.get(go.phase, go.index))

    async def _before_agent(self, index: int) -> Go:
        jump = await self.hooks.run("before_agent", index)
        return self._jumped(jump) if jump else Go("before_model")

    async def _before_model(self, index: int) -> Go:
        jump = await self.hooks.run("before_model", index)
        return self._jumped(jump) if jump else Go("model")

    async def _model(self, _index: int) -> Go:
        await self.models.run()
        self.hooks.dirty = True
        # Raised behind the reply, so that a retry does not pay for another one.
        self._failure = self.models.refused
        return Go("after_model")

    async def _after_model(self, index: int) -> Go:
        jump = await self.hooks.run("after_model", index)
        if jump:
            return self._jumped(jump)
        return self._take(self.models.route())

    async def _before_tools(self, index: int) -> Go:
        jump = await self.hooks.run("before_tools", index)
        return self._jumped(jump) if jump else Go("tools")

    async def _tools(self, _index: int) -> Go | FanOut:
        batch = self.tools.next_batch()
        if not batch:
            return Go("after_tools")
        if self.tools.fans_out():
            return FanOut(batch)
        if self.node != TOOLS and not self.watchers.unwatched:
            return Go("tools", anew=True)
        try:
            await self.tools.run(batch)
        finally:
            self.hooks.dirty = self.hooks.dirty or self.tools.changed
        return Go("tools", anew=self.watchers.durable and bool(self.tools.next_batch()))

    async def _after_tools(self, index: int) -> Go:
        # Where hooks took or answered all calls, none was run and there is nothing to look at.
        ran = self.ledger.decided is not None or bool(self.ledger.running)
        if self.ledger.decided is None:
            # Once: a hook that pauses comes back here.
            self.tools.decide()
        looked = await self.hooks.run("after_tools", index) if ran else None
        jump = looked or self.tools.jump()
        step = self.tools.decided()
        self.models.close_step()
        leaving = self.tools.leaves_for(instead=jump is not None)
        if leaving is not None:
            return self._exit(Step("exit", leaving["tool"], self.tools.answer_to(leaving["call"])))
        return self._jumped(jump) if jump else self._take(step)

    async def _on_exit(self, index: int) -> Go:
        jump = await self.hooks.run("on_exit", index)
        if jump:
            return self._jumped(jump)
        return Go("after_agent") if self.plan.hooks.has("after_agent") else DONE

    async def _after_agent(self, index: int) -> Go:
        jump = await self.hooks.run("after_agent", index)
        if jump and resolve_jump(jump, self.work.messages).to != "exit":
            return self._jumped(jump)
        return DONE

    async def _after_failure(self, error: Exception) -> Go:
        """Ask the ``on_error`` hooks; without an answer from one the error goes on."""
        answered, jump = await self.hooks.run_on_error(error)
        if not answered:
            raise error
        self.hooks.dirty = True
        return self._jumped(jump) if jump else self._exit(Step("exit", EXIT_ERROR))

    def _jumped(self, jump: JumpRequest) -> Go:
        """Follow a jump of a hook."""
        step = resolve_jump(jump, self.work.messages)
        self.models.close_step()
        if step.to == "exit":
            return self._exit(step, by_condition=False)
        return self._take(step)

    def _take(self, step: Step) -> Go:
        """Follow a decision of the routing."""
        self._go_on()
        if step.to == "tools":
            return Go("before_tools")
        self.models.close_step()
        limited = within_limits(step, self.ledger, self.plan.exits)
        if limited.to == "exit":
            return self._exit(limited, by_condition=limited is step)
        self.models.ask_again(step, limited)
        return Go("before_model", anew=self._at in {"before_model", "model", "after_model"})

    def _go_on(self) -> None:
        """Forget why the run was about to end, if it was."""
        if self.ledger.exit_reason is not None:
            self.ledger.exit_reason = self.ledger.exit_message = None
            self.work.show({"exit_reason": None, "exit_message": None})

    def _exit(self, step: Step, *, by_condition: bool = False) -> Go:
        """End the run: on_exit hooks only where an exit condition was met."""
        messages = self.work.messages
        self.ledger.exit_reason = step.reason
        self.ledger.exit_message = step.message or (messages[-1].id if messages else None)
        self.models.close_calls()
        if by_condition and self.plan.hooks.has("on_exit"):
            return Go("on_exit")
        return Go("after_agent") if self.plan.hooks.has("after_agent") else DONE
