"""A node of an agent: the one place where a run is synchronous or asynchronous."""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import ensure_config
from langgraph.types import Command

from ..state.stored_run import check_waiting
from ..tools.calls import AWAITING, BLOCKING, Calls, run_inline
from .engine import read_keys, state_of_send
from .plan import MODEL, AgentPlan
from .run_options import open_run
from .turn import Turn


class AgentNode(Runnable[dict[str, Any], list[Command[Any]]]):
    """Runs a stretch of a run, or a single tool call that was sent to it."""

    def __init__(self, plan: AgentPlan, name: str) -> None:
        self.plan = plan
        self.name = self.node = name

    def invoke(
        self,
        input: dict[str, Any],
        config: RunnableConfig | None = None,
        **_: Any,
    ) -> list[Command[Any]]:
        """Run without suspending."""
        return run_inline(self._run(input, ensure_config(config), BLOCKING), self.node)

    async def ainvoke(
        self,
        input: dict[str, Any],
        config: RunnableConfig | None = None,
        **_: Any,
    ) -> list[Command[Any]]:
        """Run on the event loop."""
        return await self._run(input, ensure_config(config), AWAITING)

    async def _run(
        self, values: dict[str, Any], config: RunnableConfig, calls: Calls
    ) -> list[Command[Any]]:
        call = values.get("tool_call")
        state = values if call is None else state_of_send(config)
        if private := self.plan.schema.private:
            # They are no part of the node's input, which traces and streams show.
            state = {**state, **read_keys(config, private)}
        if (for_parent := state.get("for_parent")) is not None:
            check_waiting(for_parent)
        opened = open_run(self.plan, self.node, state, config)
        if (live := opened.plan.live) is not None and not live.loaded:
            await live.find(calls)
        turn = Turn(opened.plan, self.node, state, config, calls)
        if call is not None:
            return await turn.run_call(call)
        if opened.changed:
            turn.keep_options(opened.record)
        return await turn.run()


def plan_of(graph: Any) -> AgentPlan:
    """What an agent was built of.

    Raises:
        TypeError: ``graph`` is no agent.
    """
    node = getattr(getattr(graph, "nodes", {}).get(MODEL), "bound", None)
    if not isinstance(node, AgentNode):
        msg = f"{graph!r} is no agent; give what create_agent returned."
        raise TypeError(msg)
    return node.plan
