"""A tool with which an agent leaves the conversation to a peer: another node of the same graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.prebuilt import ToolRuntime
from langgraph.types import Command
from pydantic import BaseModel, Field

from ...state.errors import ConfigurationError
from ...state.fatal import fatal
from ...state.suggestion import did_you_mean
from ...tools.definition import TOOL_NAME
from ..engine import AROUND
from ..hand_over import HandOver, PrivateHandOver
from .arguments import TASK, Nothing, callable_without

HANDED_OVER = "The conversation was handed over to {agent!r}."

Update = Callable[[dict[str, Any], ToolRuntime[Any, Any]], Mapping[str, Any]]
"""``(arguments, runtime) -> update`` of the state of the graph around."""


class NewTask(BaseModel):
    """The arguments of a hand-over without it."""

    task: str = Field(
        description="What the other agent is to do, with all it has to know: it sees nothing else."
    )


def handoff_tool(
    agent_name: str,
    *,
    description: str | None = None,
    name: str | None = None,
    history: bool = True,
    args_schema: type[BaseModel] | None = None,
    update: Update | None = None,
) -> BaseTool:
    """A tool that hands the conversation over to another agent of the same graph.

    Both agents are nodes of one langgraph graph. The run of the calling agent ends with the name of
    the tool as its exit reason, once all other calls of the reply have their results, and the
    graph goes on with ``agent_name``. If a reply hands over twice, the first call counts. Pictures
    of the graph show the way if ``add_node`` is told it: ``destinations=("billing",)``.

    Args:
        agent_name: The node to go to.
        description: What the model reads: when to hand over.
        name: Name of the tool; ``transfer_to_<agent_name>`` by default.
        history: The messages of the calling agent, the hand-over and its answer included, and its
            other results go along. Otherwise it keeps them to itself and the other agent gets a
            message with the ``task``.
        args_schema: Arguments, as a pydantic model. ``task`` becomes a message to the other
            agent; by default that is the only argument, and only without ``history``.
        update: ``(arguments, runtime)`` to further values for the state of the graph around.

    Raises:
        ConfigurationError: The tool has no name that providers accept. In a run: the agent is no
            node of a graph that has such a node.
    """
    title = name or f"transfer_to_{agent_name}"
    if not TOOL_NAME.fullmatch(title):
        msg = (
            f"Tool name {title!r} is refused by providers; give handoff_tool a name of 1 to 64 "
            "letters, digits, '_' or '-'."
        )
        raise ConfigurationError(msg)
    function, coroutine = _functions(title, agent_name, history=history, update=update)
    return StructuredTool(
        name=title,
        description=description or f"Hand the conversation over to agent {agent_name!r}.",
        args_schema=callable_without(args_schema or (Nothing if history else NewTask)),
        func=function,
        coroutine=coroutine,
    )


def _functions(
    title: str, agent_name: str, *, history: bool, update: Update | None
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The tool's function for either kind of run."""

    def hand_over(runtime: ToolRuntime[Any, Any], **args: Any) -> list[Any]:
        _check_node(agent_name, runtime)
        values = dict(update(args, runtime)) if update is not None else {}
        if TASK in args:
            values["messages"] = [*values.get("messages", ()), HumanMessage(args[TASK])]
        done = ToolMessage(
            HANDED_OVER.format(agent=agent_name),
            tool_call_id=runtime.tool_call_id or "",
            name=title,
        )
        kind = HandOver if history else PrivateHandOver
        return [done, kind(graph=Command.PARENT, goto=agent_name, update=values)]

    async def hand_over_later(runtime: ToolRuntime[Any, Any], **args: Any) -> list[Any]:
        # Nothing waits, so there is no need for a worker thread.
        return hand_over(runtime, **args)

    return hand_over, hand_over_later


def _check_node(name: str, runtime: ToolRuntime[Any, Any]) -> None:
    """Refuse a node that is not there: langgraph would end without a word."""
    around = cast("frozenset[str]", runtime.config.get("configurable", {}).get(AROUND, frozenset()))
    if name in around:
        return
    msg = f"There is no node {name!r} to hand over to: the agent is no node of another graph."
    if around:
        msg = (
            f"There is no node {name!r} to hand over to; there are {', '.join(sorted(around))}."
            f"{did_you_mean(name, around)}"
        )
    raise fatal(ConfigurationError(msg))
