"""The tools phase: which calls run now, their results, and what they mean for the run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage, RemoveMessage, ToolCall, ToolMessage
from langgraph.errors import GraphInterrupt
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from ..middleware.tracing import traced_layer
from ..state.errors import InvalidUpdateError
from ..state.history import last_ai_message, pending_calls, results_in_call_order
from ..state.live import ToolState
from ..state.store_first import StoreFirstError
from ..tools.execution import RunContext
from ..tools.layers import call_layer
from ..tools.results import CallResult
from .engine import is_inside
from .hand_over import NOT_FIRST, STOPPED, Waiting, check_around, chosen, refusals, waiting
from .hooking import read_update
from .model_phase import NOTICE
from .routing import JumpRequest, Step, after_tools
from .stretch import Stretch


class ToolsPhase:
    """Runs the pending calls of the last reply, batch by batch."""

    def __init__(self, stretch: Stretch) -> None:
        self._plan = stretch.plan
        self._tools = stretch.tools
        self._work = stretch.work
        self._ledger = stretch.ledger
        self._durable = stretch.watchers.durable
        self._contributions = stretch.contributions
        self._context = RunContext(
            stretch.calls,
            stretch.config,
            stretch.runtime,
            stretch.watchers.observed,
            stretch.plan.state_keys,
            traced_layer if stretch.watchers.observed else call_layer,
            partial(ToolState, rules=stretch.plan.rules, fields=stretch.plan.schema.fields),
            stretch.watchers.streamed,
        )
        self.changed = False
        """A call of this node has been answered."""
        self.asked: str | None = None
        """Where a tool of this node wants the run to go."""
        self.failed: list[Exception] = []
        """What the calls of the last batch that failed raised, in call order."""
        self.for_parent: list[Waiting] = []
        """Commands of tools for the graph around this one."""

    def next_batch(self) -> list[ToolCall]:
        """The pending calls that may run now; too many of them are answered with an error."""
        executor = self._tools.executor
        pending = pending_calls(self._work.messages)
        for result in executor.refused(pending):
            self.take(result)
        allowed = pending[: executor.policy.max_calls]
        batch = executor.batch(allowed)
        ids = [cast("str", call["id"]) for call in batch]
        self._ledger.running = list(dict.fromkeys([*self._ledger.running, *ids]))
        return batch

    def fans_out(self) -> bool:
        """Whether the next batch runs as several tasks, each stored as it finishes."""
        if not self._durable:
            return False
        return len(self._tools.executor.batch(pending_calls(self._work.messages))) > 1

    def may_pause(self, batch: Sequence[ToolCall]) -> bool:
        """Whether one of the calls is likely to pause the run."""
        return any(self._tools.executor.may_pause(call["name"]) for call in batch)

    async def run(self, batch: Sequence[ToolCall]) -> None:
        """Run calls in this node and merge their results in call order.

        Raises:
            GraphInterrupt: Calls pause the run; the others are merged all the same.
            Exception: A call failed and the policy raises failures.
        """
        self.failed = []
        self._work.show(self._ledger.outputs())
        results, errors = await self._tools.executor.run_many(
            batch, self._work.snapshot(), self._context
        )
        for result in results:
            self.take(result)
        for error in errors:
            if isinstance(error, StoreFirstError):
                self.store(error)
        self.failed = [error for error in errors if not isinstance(error, GraphInterrupt)]
        if errors:
            raise _together(errors)

    def forget(self) -> None:
        """Forget what calls asked for beside one that failed."""
        self.failed, self.asked = [], None
        self._work.values.pop("jump_to", None)
        self.leaves_for(instead=True)

    async def run_one(self, call: ToolCall) -> CallResult:
        """Run a single call, in a task of its own, beside others."""
        self._work.alone = False
        self._work.show(self._ledger.outputs())
        return await self._tools.executor.run(call, self._work.snapshot(), self._context)

    def store(self, pause: StoreFirstError) -> None:
        """Take what a layer around a call wants stored; the call itself stays pending."""
        self._work.apply(pause.update, "wrap_tool_call")
        self.changed = True

    def take(self, result: CallResult) -> None:
        """Merge the result of one call: its answer and its updates, or nothing.

        Raises:
            InvalidUpdateError: An update cannot be applied.
        """
        check_around(result, nested=is_inside(self._context.config))
        saved = self._work.save()
        asked = self.asked
        try:
            self._work.append([cast("BaseMessage", result.message)])
            for update in result.updates:
                values = dict(update)
                asked = values.pop("jump_to", None) or asked
                self._work.apply(values, f"Tool {result.call['name']!r}")
        except InvalidUpdateError:
            self._work.restore(saved)
            raise
        self.changed, self.asked = True, asked
        for layer, keys in result.contributions.items():
            self._contributions.setdefault(layer, []).extend(keys)
        for command in result.commands:
            if command.graph is not None:
                self.for_parent.append(waiting(result.call, command))
            else:
                self.asked = read_update(result.call["name"], command)[1]

    def decide(self) -> None:
        """Count the executed calls and decide where they lead, before hooks see the results."""
        if (arranged := results_in_call_order(self._work.messages)) is not None:
            everything = [RemoveMessage(REMOVE_ALL_MESSAGES), *arranged]
            self._work.apply({"messages": everything}, NOTICE)
        messages = self._work.messages
        position, reply = last_ai_message(messages) or (-1, AIMessage(""))
        names = {c["id"]: c["name"] for c in reply.tool_calls}
        executed = [i for i in names if i in self._ledger.running]
        for ident in executed:
            self._ledger.count_tool(names[ident])
        for result in messages[position + 1 :]:
            if isinstance(result, ToolMessage) and result.tool_call_id in executed:
                self._ledger.take_inner_usage(result)
        direct = [i for i in executed if self._tools.executor.returns_direct(names[i])]
        answered = self._ledger.output == "answered"
        step = after_tools(messages, executed, self._plan.exits, direct, answered=answered)
        self._ledger.running = []
        self._ledger.decided = (step.to, step.reason, step.message)

    def decided(self) -> Step:
        """What :meth:`decide` came to."""
        to, reason, message = self._ledger.decided or ("model", None, None)
        self._ledger.decided = None
        return Step(cast("Any", to), reason, message)

    def leaves_for(self, *, instead: bool = False) -> Waiting | None:
        """The command for the graph around that ends the run, the others refused.

        Args:
            instead: The run is sent elsewhere, so none is given.
        """
        entries = self.for_parent
        if not entries:
            return None
        kept = [] if instead else chosen(entries)
        text = STOPPED if instead else NOT_FIRST.format(target=kept[0]["goto"] if kept else "")
        dropped = [entry for entry in entries if entry not in kept]
        if dropped and (results := refusals(self._work.messages, dropped, text)):
            self._work.apply({"messages": results}, NOTICE)
        entries[:] = kept
        return kept[0] if kept else None

    def answer_to(self, call_id: str) -> str | None:
        """The id of the message that answers a call."""
        found = (m for m in reversed(self._work.messages) if isinstance(m, ToolMessage))
        return next((m.id for m in found if m.tool_call_id == call_id), None)

    def jump(self) -> JumpRequest | None:
        """The jump that a tool asked for, in this node or in a task of its own."""
        target = self.asked or self._work.values.pop("jump_to", None)
        self.asked = None
        return None if target is None else JumpRequest("A tool", target)


def _together(errors: Sequence[Exception]) -> Exception:
    """One exception for all: a failure if there is one, else every interrupt."""
    failures = [e for e in errors if not isinstance(e, GraphInterrupt)]
    if failures:
        return failures[0]
    return GraphInterrupt([i for e in errors for i in e.args[0]])
