"""Which stored pauses were answered already, although the task that asked did not come to its end.

When a task fails after its answer came, both the question and the answer stay stored, and the task
goes on with that answer when the thread is invoked again. langgraph still names the question among
those that wait, takes another answer to it and does not use it: a call that was approved would run
again although somebody rejects it now.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph._internal._constants import CONFIG_KEY_CHECKPOINTER, RESUME
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.types import (
    Interrupt,
    StateSnapshot,
    _interrupt_id,  # pyright: ignore[reportPrivateUsage] - how langgraph 1.2.24 counts answers
)

from ...tools.calls import Calls, Dual
from ..plan import END_NODE, MODEL, TOOLS

NODES = (MODEL, TOOLS, END_NODE)
"""Nodes of agents: what else asks, in a graph around them, is known by its task."""


async def open_interrupts(
    calls: Calls, graph: Any, config: RunnableConfig, snapshot: StateSnapshot
) -> list[Interrupt[Any]]:
    """The interrupts of a thread that no stored answer is for.

    Args:
        calls: How to read the thread.
        graph: The graph.
        config: The thread.
        snapshot: The state of the thread.
    """
    saver = graph.checkpointer
    if not isinstance(saver, BaseCheckpointSaver):
        saver = config.get("configurable", {}).get(CONFIG_KEY_CHECKPOINTER)
    failed = [t for t in snapshot.tasks if t.error is not None and t.interrupts]
    if not failed or not isinstance(saver, BaseCheckpointSaver):
        return list(snapshot.interrupts)
    names = {t.id: t.name for t in failed}
    answered: set[str] = set()
    for saved in await _paused(calls, cast("BaseCheckpointSaver[Any]", saver), config, snapshot):
        answered |= answered_in(saved, names)
    return [i for i in snapshot.interrupts if i.id not in answered]


def answered_in(saved: CheckpointTuple, names: Mapping[str, str]) -> set[str]:
    """Ids of the interrupts that the stored answers of one checkpoint are for.

    Args:
        saved: The checkpoint.
        names: Names of nodes by the ids of their tasks, where they are known.
    """
    namespace = saved.config.get("configurable", {}).get("checkpoint_ns", "")
    found: set[str] = set()
    for task, channel, answers in saved.pending_writes or ():
        if channel == RESUME:
            nodes = (names[task],) if task in names else NODES
            found |= answered_ids(namespace, task, nodes, number_of(answers))
    return found


def answered_ids(namespace: str, task: str, nodes: Iterable[str], answers: int) -> set[str]:
    """The ids that the first questions of a task have.

    Args:
        namespace: Where the task's checkpoint is; empty at the root.
        task: Id of the task.
        nodes: What its node may be called.
        answers: How many of its questions.
    """
    before = f"{namespace}|" if namespace else ""
    paths = [f"{before}{node}:{task}" for node in nodes]
    return {_interrupt_id(path, slot) for path in paths for slot in range(answers)}


def number_of(answers: Any) -> int:
    """How many answers are stored in one value."""
    return len(cast("list[Any]", answers)) if isinstance(answers, list) else 1


async def _paused(
    calls: Calls, saver: BaseCheckpointSaver[Any], config: RunnableConfig, snapshot: StateSnapshot
) -> list[CheckpointTuple]:
    """The checkpoint that the thread stands at, and those of graphs inside its tasks."""
    values = snapshot.config.get("configurable", {})
    thread, now = config.get("configurable", {}).get("thread_id"), values["checkpoint_id"]
    whole: RunnableConfig = {"configurable": {"thread_id": thread}}
    found = await calls.call(Dual("list", _list_now(saver), _list_awaiting(saver)), whole)
    return [t for t in found if t.config.get("configurable", {})["checkpoint_id"] >= now]


def _list_now(saver: BaseCheckpointSaver[Any]) -> Any:
    def read(config: RunnableConfig) -> list[CheckpointTuple]:
        return list(saver.list(config))

    return read


def _list_awaiting(saver: BaseCheckpointSaver[Any]) -> Any:
    async def read(config: RunnableConfig) -> list[CheckpointTuple]:
        return [saved async for saved in saver.alist(config)]

    return read
