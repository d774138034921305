"""Leaving for another node of the graph around: what a tool's command comes to.

langgraph takes a command for the graph around as the end of this one, at once and with nothing of
it stored: calls beside it would never be answered. So it waits, as plain data, until every call of
the reply has its result and the run has ended; then it is given, in a superstep of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, cast

from langchain_core.messages import BaseMessage, ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.types import Command, Send

from ..state.errors import InvalidUpdateError
from ..tools.results import CallResult

HAND_OVER = "hand_over"
"""The phase of a run that has ended and gives its command."""

NOT_FIRST = "Nothing was handed over: the conversation went to {target!r} with another call."
STOPPED = "Nothing was handed over: the run was sent elsewhere first."

SHOWN_AS = "__interlock_shown_as"
"""Configurable key: where a run is kept whose results look different outside, and how they do."""

Waiting = dict[str, Any]
"""A command that waits: ``{"tool", "call", "graph", "goto", "update", "history"}``."""


class HandOver(Command[Any]):
    """A command for the graph around with which the agent's messages and results go along."""

    history: ClassVar[bool] = True


class PrivateHandOver(HandOver):
    """One with which only its own update goes along."""

    history: ClassVar[bool] = False


def waiting(call: ToolCall, command: Command[Any]) -> Waiting:
    """What a call's tool returned for the graph around, as data that can be stored."""
    return {
        "tool": call["name"],
        "call": call["id"],
        "graph": command.graph,
        "goto": _plain(command.goto),
        "update": command.update,
        # None: the tool says itself what goes along.
        "history": command.history if isinstance(command, HandOver) else None,
    }


def chosen(entries: Sequence[Waiting]) -> list[Waiting]:
    """The commands that count: the first one, and if it sends work out, all others that do."""
    if not entries or not _sends(entries[0]):
        return list(entries[:1])
    return [entry for entry in entries if _sends(entry)]


def refusals(
    messages: Sequence[BaseMessage], dropped: Sequence[Waiting], text: str
) -> list[BaseMessage]:
    """The results of hand-overs that do not take place, saying so.

    Args:
        messages: The conversation.
        dropped: Commands that are not given. Those of tools that say themselves what goes along
            are let go without a word.
        text: What their results become.
    """
    calls = {entry["call"] for entry in dropped if entry["history"] is not None}
    return [
        message.model_copy(update={"content": text, "status": "error"})
        for message in messages
        if isinstance(message, ToolMessage) and message.tool_call_id in calls
    ]


def commands(entries: Sequence[Waiting], results: Mapping[str, Any]) -> list[Command[Any]]:
    """What langgraph is given for the graph around.

    Args:
        entries: The commands that count.
        results: What the run would return, for those that take the conversation along.
    """
    if not entries:
        return []
    first = entries[0]
    goto: Any = first["goto"]
    if len(entries) > 1:
        goto = [send for entry in entries for send in entry["goto"]]
    update: Any = first["update"]
    if first["history"]:
        own = cast("dict[str, Any]", update or {})
        update = {**results, **own}
        if "messages" in results and "messages" in own:
            update["messages"] = [*results["messages"], *own["messages"]]
    return [Command(graph=first["graph"], goto=goto, update=update)]


def shown_as(
    config: RunnableConfig, results: Callable[[dict[str, Any]], Mapping[str, Any]]
) -> RunnableConfig:
    """The config of an agent's run whose results look different in the graph around.

    Args:
        config: The config of the node that runs it.
        results: Makes the update of the graph around of the agent's results.
    """
    values = config.get("configurable", {})
    view = (_nodes_in(values.get("checkpoint_ns", "")), results)
    return cast("RunnableConfig", {**config, "configurable": {**values, SHOWN_AS: view}})


def as_shown(config: RunnableConfig, results: dict[str, Any]) -> Mapping[str, Any]:
    """The results as the graph around wants them, if this node belongs to the run it wraps."""
    values = config.get("configurable", {})
    place, view = values.get(SHOWN_AS, (None, None))
    inside = _nodes_in(values.get("checkpoint_ns", ""))
    return results if view is None or inside[:-1] != place else view(results)


def check_around(result: CallResult, *, nested: bool) -> None:
    """Refuse a command for the graph around where there is none.

    Raises:
        InvalidUpdateError: The run is not part of another graph.
    """
    for command in result.commands:
        if command.graph is not None and not nested:
            tool = result.call["name"]
            msg = (
                f"Tool {tool!r} sends the run to {command.goto!r} in the graph around it, but the "
                "agent runs on its own; make it a node of a graph that has that node."
            )
            raise InvalidUpdateError(msg, owner=f"Tool {tool!r}")


def _nodes_in(place: str) -> list[str]:
    """The nodes that a place in a thread is inside of, the outermost first."""
    return [part.partition(":")[0] for part in place.split("|")]


def _plain(goto: Any) -> Any:
    return list(cast("Sequence[Any]", goto)) if isinstance(goto, (list, tuple)) else goto


def _sends(entry: Waiting) -> bool:
    if not isinstance(entry["goto"], list):
        return False
    targets = cast("list[Any]", entry["goto"])
    return bool(targets) and all(isinstance(target, Send) for target in targets)
