"""What the runner needs to know of langgraph's engine: the only place with private names.

Verified with langgraph 1.2.24; a test fails when a name or its meaning changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config, var_child_runnable_config
from langgraph._internal._constants import (
    CONF,
    CONFIG_KEY_CHECKPOINT_NS,
    CONFIG_KEY_CHECKPOINTER,
    CONFIG_KEY_READ,
    CONFIG_KEY_READ_STATE,
    CONFIG_KEY_RUNTIME,
    CONFIG_KEY_SCRATCHPAD,
    CONFIG_KEY_SEND,
    CONFIG_KEY_STREAM,
    CONFIG_KEY_STRICT_RESUME,
    CONFIG_KEY_TASK_ID,
    NS_END,
    NS_SEP,
)
from langgraph.errors import GraphRecursionError
from langgraph.graph import END
from langgraph.graph.state import (
    _CHANNEL_BRANCH_TO,  # pyright: ignore[reportPrivateUsage] - a test holds what it is used for
)
from langgraph.pregel._write import ChannelWrite
from langgraph.runtime import Runtime

UNWATCHED = "__interlock_unwatched"
"""Configurable key: the run was begun in a way that shows nothing before its end."""

STREAMED = "streamed"
"""Its value for a run that is streamed."""

AGENT_NAME = "lc_agent_name"
"""Metadata key: the agent that a run is of."""

AROUND = "__interlock_around"
"""Configurable key: the nodes of the graph around a run that is a node of it."""

_ADDRESS = ("thread_id", "checkpoint_ns", "checkpoint_id", "checkpoint_map")
"""Configurable keys with which a run says that it is no part of the graph around it."""

_TO_NODE = _CHANNEL_BRANCH_TO.format("")
"""How the channel that begins a node is named."""

DEFAULT_RECURSION_LIMIT = 9_999
"""Supersteps of a run; steps of the agent are limited by ``max_agent_steps``."""


@dataclass(frozen=True)
class Watchers:
    """Who can see what happens between the beginning and the end of a node."""

    durable: bool
    """A checkpointer stores every superstep."""
    observed: bool
    """Callback handlers listen to runs."""
    unwatched: bool
    """Nobody can see where one superstep ends and the next begins."""
    streamed: bool
    """The run was begun as a stream: chunks show what each node wrote."""
    recursion_limit: int

    @classmethod
    def of(cls, config: RunnableConfig) -> Watchers:
        """Look at a node's config."""
        values: Mapping[str, Any] = config.get(CONF, {})
        durable = bool(values.get(CONFIG_KEY_CHECKPOINTER))
        handlers = getattr(config.get("callbacks"), "handlers", None)
        observed = bool(handlers)
        return cls(
            durable=durable,
            observed=observed,
            unwatched=values.get(UNWATCHED) is True and not durable and not observed,
            streamed=values.get(UNWATCHED) == STREAMED,
            recursion_limit=config.get("recursion_limit", DEFAULT_RECURSION_LIMIT),
        )


def runtime_of(config: RunnableConfig) -> Runtime[Any]:
    """The runtime of a node."""
    return cast("Runtime[Any]", config.get(CONF, {})[CONFIG_KEY_RUNTIME])


def was_resumed(config: RunnableConfig) -> bool:
    """Whether the task that runs has been given an answer to one of its pauses."""
    return bool(config.get(CONF, {})[CONFIG_KEY_SCRATCHPAD].resume)


def state_of_send(config: RunnableConfig) -> dict[str, Any]:
    """The state at the beginning of the superstep, for a task begun by ``Send``."""
    read = cast("Callable[[], dict[str, Any]]", config.get(CONF, {})[CONFIG_KEY_READ_STATE])
    return dict(read())


def read_keys(config: RunnableConfig, keys: Iterable[str]) -> dict[str, Any]:
    """State keys of a running node that are no part of its input; those without a value left out."""
    read = cast("Callable[[list[str]], dict[str, Any]]", config.get(CONF, {})[CONFIG_KEY_READ])
    return read(list(keys))


def write_keys(config: RunnableConfig, writes: Sequence[tuple[str, Any]]) -> None:
    """Update state keys of a running node so that they are no part of its result."""
    config.get(CONF, {})[CONFIG_KEY_SEND](writes)


def is_nested(config: RunnableConfig | None) -> bool:
    """Whether a run is begun from within a node of another graph."""
    return CONFIG_KEY_TASK_ID in (config or {}).get(CONF, {})


def within(config: RunnableConfig | None) -> RunnableConfig | None:
    """The config with what the graph around a run says, where code in a node left it out.

    langgraph merges it too, but only after the run has begun.
    """
    around = var_child_runnable_config.get()
    if around is None or is_nested(config) or not is_nested(around):
        return config
    own = (config or {}).get(CONF, {})
    if any(own.get(key) for key in _ADDRESS):
        return config
    return cast("RunnableConfig", {**(config or {}), CONF: {**around.get(CONF, {}), **own}})


def under_own_name(graph: Any, config: RunnableConfig | None) -> RunnableConfig | None:
    """The config of a run, with the agent's own name in place of the one that it took over.

    A config handed on to an agent inside another one says the name of the outer one.
    """
    around = var_child_runnable_config.get()
    own = name_of(graph)
    if around is None or own is None or not (given := (config or {}).get("metadata")):
        return config
    name = given.get(AGENT_NAME)
    if name is None or name != (around.get("metadata") or {}).get(AGENT_NAME):
        return config
    metadata = {**given, AGENT_NAME: own}
    return cast("RunnableConfig", {**(config or {}), "metadata": metadata})


def name_of(graph: Any) -> str | None:
    """The name that an agent was given."""
    config = cast("Mapping[str, Any]", graph.config or {})
    metadata = cast("Mapping[str, Any]", config.get("metadata") or {})
    return metadata.get(AGENT_NAME)


def is_inside(config: RunnableConfig) -> bool:
    """Whether a node belongs to a graph that is part of another one."""
    return NS_SEP in config.get(CONF, {}).get(CONFIG_KEY_CHECKPOINT_NS, "")


def nodes_around(config: RunnableConfig | None) -> frozenset[str]:
    """The nodes of the graph around a run that is itself a node of it; else none.

    A run that a tool or a node's own code begins elsewhere in the thread is no node.
    """
    values = (config or {}).get(CONF, {})
    task, place = values.get(CONFIG_KEY_TASK_ID), values.get(CONFIG_KEY_CHECKPOINT_NS, "")
    read = values.get(CONFIG_KEY_READ)
    if not task or not place.endswith(f"{NS_END}{task}") or not isinstance(read, partial):
        return frozenset()
    channels = cast("Mapping[str, Any]", read.args[1])
    begins = (key.removeprefix(_TO_NODE) for key in channels if key.startswith(_TO_NODE))
    return frozenset({*begins, END})


def is_streamed(config: RunnableConfig | None) -> bool:
    """Whether a run in another graph passes its chunks on."""
    return CONFIG_KEY_STREAM in (config or {}).get(CONF, {})


def strictly(config: RunnableConfig) -> RunnableConfig:
    """The config with answers given only to pauses that wait and are named."""
    values = {**config.get(CONF, {}), CONFIG_KEY_STRICT_RESUME: True}
    return cast("RunnableConfig", {**config, CONF: values})


def addresses_pauses(config: RunnableConfig | None) -> bool:
    """Whether answers of this run name their pauses already, or are given by an outer graph."""
    values = (config or {}).get(CONF, {})
    return bool(values.get(CONFIG_KEY_STRICT_RESUME)) or is_nested(config)


def checkpointer_of(graph: Any, config: RunnableConfig) -> Any:
    """What holds the thread of a config; None without one, and for a graph inside this one."""
    values = config.get(CONF, {})
    if inherited := values.get(CONFIG_KEY_CHECKPOINTER):
        return inherited
    own = graph.checkpointer
    return None if isinstance(own, bool) or values.get(CONFIG_KEY_CHECKPOINT_NS) else own


def stores_threads(graph: Any, config: RunnableConfig | None) -> bool:
    """Whether a graph has a checkpointer, of its own or from the config."""
    return bool(graph.checkpointer) or bool(
        (config or {}).get(CONF, {}).get(CONFIG_KEY_CHECKPOINTER)
    )


def names_thread(graph: Any, config: RunnableConfig | None) -> bool:
    """Whether a run says which thread it belongs to, or is a part of one that does."""
    own = cast("Mapping[str, Any]", (graph.config or {}).get(CONF, {}))
    if "thread_id" in own or "thread_id" in (config or {}).get(CONF, {}):
        return True
    # The config of a runnable around the run counts too.
    return not {"thread_id", CONFIG_KEY_TASK_ID}.isdisjoint(ensure_config(config).get(CONF, {}))


def present_of(config: RunnableConfig) -> RunnableConfig:
    """The config without the checkpoint in it: the thread as it stands now."""
    values = {k: v for k, v in config.get(CONF, {}).items() if k != "checkpoint_id"}
    return cast("RunnableConfig", {**config, CONF: values})


def entry_of(node: str) -> str:
    """The channel that starts a node."""
    return _CHANNEL_BRANCH_TO.format(node)


def only_passes_on(writers: Iterable[Any]) -> bool:
    """Whether the writers of a node write what it is given into the state, and nothing else."""
    return all(type(writer) is ChannelWrite for writer in writers)


def recursion_error(limit: int) -> GraphRecursionError:
    """The error of langgraph for a run with too many supersteps."""
    return GraphRecursionError(
        f"Recursion limit of {limit} reached without hitting a stop condition. You can increase "
        "the limit by setting the `recursion_limit` config key."
    )
