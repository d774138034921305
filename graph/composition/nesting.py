"""Where in a thread the run of an agent inside a tool is kept, and whether it goes on there.

Like ``graph/engine.py`` this uses private names of langgraph 1.2.24; tests fail when one changes.
"""

from __future__ import annotations

from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langgraph._internal._config import recast_checkpoint_ns
from langgraph._internal._constants import (
    CONF,
    CONFIG_KEY_CHECKPOINT_NS,
    CONFIG_KEY_CHECKPOINTER,
    CONFIG_KEY_RESUMING,
)
from langgraph.checkpoint.base import BaseCheckpointSaver

from ...tools.calls import Calls, Dual

CALL_MARK = "interlock_call"
"""Metadata key of checkpoints: the call that a remembered run belongs to."""


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
    values = {**_values(config), CONFIG_KEY_CHECKPOINT_NS: place}
    shared = _at(cast("RunnableConfig", {**config, CONF: values}), name, "")
    shared["metadata"] = {**shared.get("metadata", {}), CALL_MARK: call_id}
    return shared


async def beginning_anew(calls: Calls, config: RunnableConfig) -> RunnableConfig:
    """The config of a remembered run that is told when its last call was another one.

    langgraph takes a thread that exists, in a graph that is resumed, for one that waits: the new
    call's input would be dropped and the last answer given once more.
    """
    saver: Any = saver_of(config)
    read = Dual("get_tuple", saver.get_tuple, saver.aget_tuple)
    stored = await calls.call(read, config)
    if stored is None or stored.metadata.get(CALL_MARK) == config.get("metadata", {})[CALL_MARK]:
        return config
    values = {**_values(config), CONFIG_KEY_RESUMING: False}
    return cast("RunnableConfig", {**config, CONF: values})


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


def _values(config: RunnableConfig) -> dict[str, Any]:
    return config.get(CONF, {})
