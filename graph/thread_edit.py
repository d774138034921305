"""Editing a stored thread with ``update_state``: what was to run next still runs, with the edit.

Nodes say themselves where a run goes on, so langgraph finds no edge that would lead on from an
edit. Here the edit is given its way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.types import Command, StateSnapshot, StateUpdate

from ..state.history import pending_calls
from ..state.ledger import Cursor, Ledger
from ..state.working import WorkingState
from ..tools.calls import Calls, Dual
from .engine import checkpointer_of
from .node import plan_of
from .plan import MODEL, TOOLS, AgentPlan

Supersteps = Sequence[Sequence[StateUpdate]]


async def with_way(
    calls: Calls, graph: Any, config: RunnableConfig, supersteps: Supersteps
) -> Supersteps:
    """The updates of a thread, a single one with the place where the run goes on."""
    saver = checkpointer_of(graph, config)
    if saver is None or len(supersteps) != 1 or len(supersteps[0]) != 1:
        return supersteps
    edit = supersteps[0][0]
    plan = plan_of(graph)
    if not isinstance(edit.values, Mapping) or edit.as_node not in {None, *plan.nodes}:
        return supersteps
    state = Dual("get_state", graph.get_state, graph.aget_state)
    snapshot = cast("StateSnapshot", await calls.call(state, config))
    stored = await calls.call(Dual("get_tuple", saver.get_tuple, saver.aget_tuple), snapshot.config)
    kept = stored.checkpoint["channel_values"].get("run_ledger") if stored else None
    found = way(plan, snapshot, cast("Any", edit.values), edit.as_node, Ledger.load(kept))
    if found is None:
        return supersteps
    goto, ledger = found
    update = {**edit.values, "run_ledger": ledger.dump()}
    author = edit.as_node or (MODEL if goto == TOOLS else plan.nodes[-1])
    # langgraph gives the values of an update to the writers of its node, which take commands.
    led: Any = Command(update=update, goto=goto)
    return [[StateUpdate(led, author, edit.task_id)]]


def way(
    plan: AgentPlan,
    snapshot: StateSnapshot,
    update: Mapping[str, Any],
    as_node: str | None,
    ledger: Ledger,
) -> tuple[str, Ledger] | None:
    """Where a run goes on after an edit, and with which ledger; None if it has ended.

    Args:
        plan: Of the agent.
        snapshot: The thread before the edit.
        update: The edit.
        as_node: The node it is made for. Without one, what was to run next still is.
        ledger: Of the run that the thread is in the middle of, or an empty one.
    """
    waiting = [node for node in dict.fromkeys(snapshot.next) if node in plan.nodes]
    if as_node is None and snapshot.next:
        if not waiting:
            return None
        # Calls that were to run as tasks of their own are handed out again from here.
        handed_out = ledger.cursor is not None and ledger.cursor.phase == "tools"
        return (MODEL if handed_out else waiting[0]), ledger
    if "messages" not in update or TOOLS not in plan.nodes:
        return None
    if as_node == TOOLS:
        ledger.cursor = Cursor("before_model")
        return MODEL, ledger
    work = WorkingState(snapshot.values, plan.rules)
    work.apply({"messages": update["messages"]}, "update_state")
    if as_node in {None, MODEL} and pending_calls(work.messages):
        ledger.cursor, ledger.open_step = Cursor("before_tools"), True
        return TOOLS, ledger
    return None
