"""Going on with a run that stopped and left a snapshot."""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, cast

from langchain_core.messages import ToolCall
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from ..middleware.approval.confirmation import ToolExecutionDecision, wire_decision
from ..middleware.approval.review import Given
from ..middleware.approval.snapshot import AgentSnapshot
from ..state.approval_errors import CannotPauseError, InvalidDecisionError, NotWaitingError
from ..state.ledger import Cursor, Ledger
from ..tools.calls import AWAITING, BLOCKING, Calls, Dual, run_inline
from .plan import MODEL, TOOLS

Decisions = Mapping[str, Any] | Sequence[ToolExecutionDecision]
"""Decisions by tool call id, or Haystack's kind, each with the id of its call."""


def resume_snapshot(
    graph: Any,
    snapshot: AgentSnapshot | str | os.PathLike[str],
    decisions: Decisions = (),
    config: RunnableConfig | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Go on with a run where its snapshot was taken, and return its result.

    Hooks that run once per run and model calls that were made are not repeated. Calls without a
    decision stop the run again.

    Args:
        graph: The agent, which may have been built anew since.
        snapshot: The snapshot, or the path of its file.
        decisions: What was decided about the calls that wait, by their ids.
        config: As of the graph's ``invoke``. No thread is read or written.
        **options: As of the graph's ``invoke``.

    Raises:
        StorageError: The file cannot be read, or is no snapshot of a supported version.
        NotWaitingError: A decision is about a call that does not wait in the snapshot.
        InvalidDecisionError: A decision may not be made.
        HITLBreakpointException: The run stopped again; the new file has the rest.
        CannotPauseError: A call needs an answer that only a checkpointer could wait for.
    """
    return run_inline(_resume(BLOCKING, graph, _start(snapshot, decisions), config, options))


async def aresume_snapshot(
    graph: Any,
    snapshot: AgentSnapshot | str | os.PathLike[str],
    decisions: Decisions = (),
    config: RunnableConfig | None = None,
    **options: Any,
) -> dict[str, Any]:
    """:func:`resume_snapshot` on an event loop."""
    return await _resume(AWAITING, graph, _start(snapshot, decisions), config, options)


async def _resume(
    calls: Calls, graph: Any, start: Command[Any], config: RunnableConfig | None, options: Any
) -> dict[str, Any]:
    # A thread of its own, in memory: it lets the run begin in the middle, and ends with it.
    runner = graph.copy(update={"checkpointer": InMemorySaver()})
    values = {**(config or {}).get("configurable", {}), "thread_id": str(uuid.uuid4())}
    thread = {**(config or {}), "configurable": values}
    update = Dual("update_state", runner.update_state, runner.aupdate_state)
    await calls.call(update, thread, start, MODEL)
    invoke = Dual("invoke", partial(runner.invoke, **options), partial(runner.ainvoke, **options))
    result = cast("dict[str, Any]", await calls.call(invoke, None, thread))
    if "__interrupt__" in result:
        msg = (
            "The resumed run needs an answer from a person that it cannot wait for; give its "
            "tools a strategy with a user interface or a breakpoint, or the agent a checkpointer."
        )
        raise CannotPauseError(msg)
    return result


def _start(source: AgentSnapshot | str | os.PathLike[str], decisions: Decisions) -> Command[Any]:
    snapshot = source if isinstance(source, AgentSnapshot) else AgentSnapshot.load(source)
    return starting_point(snapshot, _by_id(snapshot, decisions))


def starting_point(snapshot: AgentSnapshot, decisions: Mapping[str, Given]) -> Command[Any]:
    """The update that puts a run where a snapshot was taken: a pure function."""
    before_tools = snapshot.point == "before_tools"
    counters = {
        k: v
        for k, v in snapshot.run.items()
        if k in ("step_count", "token_usage", "context_tokens", "tool_call_counts")
    }
    ledger = Ledger(**counters, open_step=before_tools, cursor=Cursor(snapshot.point))
    values = {
        **snapshot.values,
        "messages": list(snapshot.messages),
        "run_ledger": ledger.dump(),
    }
    if snapshot.answer_key is not None and decisions:
        values[snapshot.answer_key] = dict(decisions)
    return Command(update=values, goto=TOOLS if before_tools else MODEL)


def _by_id(snapshot: AgentSnapshot, decisions: Decisions) -> dict[str, Given]:
    """The decisions by call id, each about a call that waits."""
    open_calls = {cast("str", c["id"]): c for c in snapshot.tool_calls}
    if isinstance(decisions, Mapping):
        named: dict[str, Any] = dict(decisions)
    else:
        named = {}
        for decision in decisions:
            if decision.tool_call_id is None:
                msg = f"The decision about {decision.tool_name!r} names no call; give tool_call_id."
                raise InvalidDecisionError(msg, tool_name=decision.tool_name)
            named[decision.tool_call_id] = decision
    waiting = list(snapshot.waiting)
    if unknown := [i for i in named if i not in waiting or i not in open_calls]:
        msg = f"No call {unknown[0]!r} waits in this snapshot; those that wait are {waiting}."
        raise NotWaitingError(msg, asked=unknown, waiting=waiting)
    return {ident: _given(value, open_calls[ident]) for ident, value in named.items()}


def _given(value: Any, call: ToolCall) -> Given:
    """A decision as the resumed run expects it."""
    if not isinstance(value, ToolExecutionDecision):
        return Given(decision=value)
    given = Given(decision=wire_decision(value, call))
    if value.feedback:
        given["text"] = value.feedback
    return given
