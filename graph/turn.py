"""A stretch of a run inside one node: phase after phase, until something needs a boundary.

A run is a sequence of phases. Nodes are only where a stretch may be stored or seen: a node runs
the phases that are at home in it, and leaves when the next phase lives elsewhere, when a hook
pauses the run after something has taken effect, or when several calls are to be stored one by
one. Where it stopped is kept in the ledger's cursor, so nothing before it runs again.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import Any, cast

from langchain_core.messages import ToolCall
from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphBubbleUp, GraphInterrupt, GraphRecursionError
from langgraph.types import Command

from ..state.errors import UnstorableValueError
from ..state.ledger import Cursor, Ledger
from ..state.store_first import StoreFirstError
from ..state.working import WorkingState
from ..tools.calls import Calls
from .commit import Commit
from .engine import Watchers, runtime_of
from .failure_phase import FailurePhase
from .hand_over import HAND_OVER
from .hooking import HookRunner
from .live_tools import StepTools
from .model_phase import ModelPhase
from .onward import Onward
from .phases import DONE, ENTRY, ON_ERROR, Boundary, FanOut, Go, Move, Pause
from .plan import MODEL, TOOLS, AgentPlan
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
        self._fresh = stored is None
        self.ledger = Ledger.load(stored)
        self.ledger.for_parent = [*self.ledger.for_parent, *(state.pop("for_parent", None) or ())]
        self.work = WorkingState(state, plan.rules)
        self._given = state
        self._boundary = Boundary(node, plan.nodes, self.watchers)
        self._cannot_leave = False
        self._refused: Exception | None = None
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
        self.failures = FailurePhase(stretch, self.hooks, state)
        self.models = ModelPhase(stretch)
        self.onward = Onward(stretch, self.models)
        self.tools = ToolsPhase(stretch)
        durable = self.watchers.durable
        self.commit = Commit(plan, node, self.work, self.ledger, config, durable=durable)
        self.commit.contributions = self.hooks.contributions
        self.tools.for_parent = self.ledger.for_parent

    @property
    def _phases(self) -> Mapping[str, Callable[[int], Coroutine[Any, Any, Move]]]:
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
            ON_ERROR: self._on_error,
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
        before = self.work.save()
        try:
            self.tools.take(await self.tools.run_one(call))
            if self.tools.asked is not None:
                self.work.put("jump_to", self.tools.asked)
            if self.tools.for_parent:
                self.work.put("for_parent", self.tools.for_parent)
            return self.commit.go(Cursor("tools"), MODEL)
        except StoreFirstError as pause:
            self.tools.store(pause)
            return self.commit.go(Cursor("tools"), MODEL)
        except GraphBubbleUp:
            raise
        except Exception as error:
            if not self.failures.hears(error):
                raise
            self.work.restore(before)
            self.failures.hand_on(cast("str", call["id"]), error)
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
            try:
                commands = self._commands(move)
            except Exception as error:  # noqa: BLE001 - the hooks are told of it, or it leaves
                go = self._kept_in(move, error)
                continue
            if commands is not None:
                return commands
            if self.watchers.unwatched:
                self.hooks.completed.clear()
            go = cast("Go", move)

    def _commands(self, move: Move) -> list[Command[Any]] | None:
        """What the node ends with, unless it goes on with the next phase."""
        if isinstance(move, Pause):
            return self.commit.pause(move)
        if isinstance(move, FanOut):
            return self.commit.fan_out(move.calls)
        if move is DONE:
            return self.commit.finish(at_once=self.watchers.unwatched)
        fans_out = TOOLS in self.plan.nodes and self.tools.fans_out()
        if self._boundary.lies_before(move, fans_out=fans_out):
            return self.commit.pause(Pause(Cursor(move.phase, move.index)))
        return None

    def _kept_in(self, move: Move, error: Exception) -> Go:
        """Go to the hooks because the node cannot end as it should; once, then the error leaves."""
        if self._cannot_leave or not self.failures.has_hooks:
            raise error
        self._cannot_leave = True
        if isinstance(move, Pause) and move.failures:
            error.__context__ = move.failures[0].error
        if isinstance(error, GraphRecursionError):
            self.ledger.closing = True
            self._boundary.lift()
        key = error.key if isinstance(error, UnstorableValueError) else None
        self.commit.take_back(key, self._given)
        return cast(
            "Go", self.failures.begin(self._place(Go(self.onward.at)), [error], store=False)
        )

    async def _advance(self, go: Go) -> Move:
        """Run one phase; what must not be repeated makes a pause or a failure a boundary."""
        self.onward.at = go.phase
        failing = go.phase == ON_ERROR
        try:
            if self._refused is not None and not failing:
                error, self._refused = self._refused, None
                raise error  # noqa: TRY301 - it belongs behind the reply
            return await self._phases[go.phase](go.index)
        except GraphInterrupt:
            if failing and not self.failures.stored_here:
                return self.failures.pause()
            if failing or not self.hooks.dirty:
                raise
            return Pause(self._place(go))
        except GraphBubbleUp:
            raise
        except Exception as error:
            if failing:
                raise
            store = self.hooks.dirty and self.watchers.durable
            several = self.tools.failed if go.phase == "tools" else ()
            return self.failures.begin(self._place(go), several or [error], store=store)

    def _entry(self) -> Go:
        """Where this stretch begins: at the cursor, or at the beginning of a run."""
        cursor, self.ledger.cursor = self.ledger.cursor, None
        if (failing := self.failures.entry(cursor)) is not None:
            return failing
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
        return self.onward.jumped(jump) if jump else Go("before_model")

    async def _before_model(self, index: int) -> Go:
        jump = await self.hooks.run("before_model", index)
        return self.onward.jumped(jump) if jump else Go("model")

    async def _model(self, _index: int) -> Go:
        try:
            await self.models.run(dirty=self.hooks.dirty)
        finally:
            self.hooks.dirty = self.hooks.dirty or self.models.paid
        # Raised behind the reply, so that a retry does not pay for another one.
        self._refused = self.models.refused
        return Go("after_model")

    async def _after_model(self, index: int) -> Go:
        jump = await self.hooks.run("after_model", index)
        if jump:
            return self.onward.jumped(jump)
        return self.onward.take(self.models.route())

    async def _before_tools(self, index: int) -> Go:
        jump = await self.hooks.run("before_tools", index)
        return self.onward.jumped(jump) if jump else Go("tools")

    async def _tools(self, _index: int) -> Go | FanOut:
        batch = self.tools.next_batch()
        if not batch:
            return Go("after_tools")
        if TOOLS in self.plan.nodes and self.tools.fans_out():
            return FanOut(batch)
        elsewhere = TOOLS in self.plan.nodes and self.node != TOOLS
        # Behind hooks of this node a pause would begin the call anew: let it begin in the next one.
        behind = self.watchers.durable and "before_tools" in self.hooks.completed
        if (behind and self.tools.may_pause(batch)) or (elsewhere and not self.watchers.unwatched):
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
            answer = self.tools.answer_to(leaving["call"])
            return self.onward.leave_for(leaving["tool"], answer)
        return self.onward.jumped(jump) if jump else self.onward.take(step)

    async def _on_exit(self, index: int) -> Go:
        jump = await self.hooks.run("on_exit", index)
        if jump:
            return self.onward.jumped(jump)
        return Go("after_agent") if self.plan.hooks.has("after_agent") else DONE

    async def _after_agent(self, index: int) -> Go:
        jump = await self.hooks.run("after_agent", index)
        return self.onward.after_agent(jump, self.hooks.completed["after_agent"])

    async def _on_error(self, _index: int) -> Go | Pause:
        told = await self.failures.tell()
        if isinstance(told, Pause):
            return told
        self.hooks.dirty = True
        self.tools.forget()
        return self.onward.answered(told)
