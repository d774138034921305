"""Where in a thread the run of an agent inside a tool is kept, and whether it goes on there.

Like ``graph/engine.py`` this uses private names of langgraph 1.2.24; tests fail when one changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langgraph._internal._config import recast_checkpoint_ns
from langgraph._internal._constants import (
    CONF,
    CONFIG_KEY_CHECKPOINT_NS,
    CONFIG_KEY_CHECKPOINTER,
    CONFIG_KEY_RESUMING,
    CONFIG_KEY_SCRATCHPAD,
    NS_END,
    NS_SEP,
)
from langgraph._internal._scratchpad import PregelScratchpad
from langgraph.checkpoint.base import BaseCheckpointSaver

from ...state.storage import widened_checkpointer
from ...tools.calls import Calls, Dual
from ...tools.running import TOOL_CALL
from ..engine import AGENT_NAME

CALL_MARK = "interlock_call"
"""Metadata key of checkpoints: the call or task that a remembered run belongs to."""


def depth_of(config: RunnableConfig) -> int:
    """How many graphs the node that runs with this config is inside of."""
    # Each adds its own part, and one for the task or the call that runs it.
    place: str = _values(config).get(CONFIG_KEY_CHECKPOINT_NS, "")
    return place.count(NS_SEP) // 2


def identified(config: RunnableConfig, agent: str, call_id: str) -> RunnableConfig:
    """The config of a run, saying which agent it is of and which call it answers."""
    metadata = {**config.get("metadata", {}), AGENT_NAME: agent, TOOL_CALL: call_id}
    return cast("RunnableConfig", {**config, "metadata": metadata})


def nested_config(config: RunnableConfig, name: str, call_id: str) -> RunnableConfig:
    """The config of an agent's run inside a tool call: a place in the thread of its own.

    Streams show the name of the tool in the path of what happens in there.

    Args:
        config: The config of the node that runs the call.
        name: Name of the tool.
        call_id: Id of the call.
    """
    return _at(config, name, f":{call_id}")


def remembered_config(config: RunnableConfig, name: str, call_id: str) -> RunnableConfig:
    """The config of a run that all calls of a thread share, marked with the call."""
    place = recast_checkpoint_ns(_values(config).get(CONFIG_KEY_CHECKPOINT_NS, ""))
    return _marked(_at(_with(config, CONFIG_KEY_CHECKPOINT_NS, place), name, ""), call_id)


async def nested_run(
    calls: Calls, config: RunnableConfig, types: Iterable[type], *, remembers: bool
) -> RunnableConfig:
    """The config of an agent's run inside another graph.

    Args:
        calls: How to read the thread.
        config: The config that the graph around gives.
        types: What threads of the agent hold beside messages and plain data.
        remembers: The agent keeps one conversation per thread of the graph around.
    """
    saver = saver_of(config)
    if saver is None:
        return config
    wide = widened_checkpointer(saver, types)
    nested = _with(config, CONFIG_KEY_CHECKPOINTER, wide) if wide is not saver else config
    return await _one_conversation(calls, nested) if remembers else nested


async def _one_conversation(calls: Calls, config: RunnableConfig) -> RunnableConfig:
    """The config of a remembered run, marked with the task that it belongs to."""
    values = _values(config)
    around: str = values.get(CONFIG_KEY_CHECKPOINT_NS, "")
    place = NS_SEP.join(part.split(NS_END)[0] for part in around.split(NS_SEP))
    pad = values.get(CONFIG_KEY_SCRATCHPAD)
    if isinstance(pad, PregelScratchpad):
        # langgraph numbers the graphs that a task runs; it is to find the number that is taken here.
        number = pad.subgraph_counter()
        place = f"{place}{NS_SEP}{number}" if number else place
        pad = replace(pad, subgraph_counter=lambda: number)
        config = _with(config, CONFIG_KEY_SCRATCHPAD, pad)
    config = _marked(config, around)
    return await beginning_anew(calls, config, _with(config, CONFIG_KEY_CHECKPOINT_NS, place))


async def beginning_anew(
    calls: Calls, config: RunnableConfig, stored_at: RunnableConfig
) -> RunnableConfig:
    """The config of a remembered run that is told when its last one belonged to another call.

    langgraph takes a thread that exists, in a graph that is resumed, for one that waits: the new
    input would be dropped and the last answer given once more.
    """
    if not _values(config).get(CONFIG_KEY_RESUMING):
        return config
    saver: Any = saver_of(config)
    read = Dual("get_tuple", saver.get_tuple, saver.aget_tuple)
    stored = await calls.call(read, stored_at)
    if stored is None or stored.metadata.get(CALL_MARK) == config.get("metadata", {})[CALL_MARK]:
        return config
    return _with(config, CONFIG_KEY_RESUMING, value=False)


def saver_of(config: RunnableConfig) -> BaseCheckpointSaver[Any] | None:
    """The checkpointer of the graph around a tool call, if there is one."""
    saver: Any = _values(config).get(CONFIG_KEY_CHECKPOINTER)
    return cast("Any", saver) if isinstance(saver, BaseCheckpointSaver) else None


def _at(config: RunnableConfig, name: str, mark: str) -> RunnableConfig:
    values = _values(config)
    around = values.get(CONFIG_KEY_CHECKPOINT_NS, "")
    place = f"{around}|{name}{mark}" if around else ""
    # A traced tool call makes its own runs children of it by way of the context.
    ambient = var_child_runnable_config.get() or {}
    return cast(
        "RunnableConfig",
        {
            **config,
            "callbacks": ambient.get("callbacks", config.get("callbacks")),
            CONF: {**values, CONFIG_KEY_CHECKPOINT_NS: place},
        },
    )


def _marked(config: RunnableConfig, mark: str) -> RunnableConfig:
    metadata = {**config.get("metadata", {}), CALL_MARK: mark}
    return cast("RunnableConfig", {**config, "metadata": metadata})


def _with(config: RunnableConfig, key: str, value: Any) -> RunnableConfig:
    return cast("RunnableConfig", {**config, CONF: {**_values(config), key: value}})


def _values(config: RunnableConfig) -> dict[str, Any]:
    return config.get(CONF, {})
