"""What there is to draw of an agent: its nodes, the steps inside them, and the ways between."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from langgraph.graph import END, START

from ...middleware.collect import Hook, HookPoint, WrapPoint
from ...tools.layers import Layer
from ..node import AgentNode
from ..plan import END_NODE, MODEL, TOOLS, AgentPlan

BEGIN, FINISH = "begin", "finish"
"""Where every run begins and ends, as the source or target of a way."""

_LABELS = {
    (MODEL, TOOLS): "tool calls",
    (TOOLS, MODEL): "results",
    (MODEL, MODEL): "again",
    (MODEL, END_NODE): "answer",
    (MODEL, FINISH): "answer",
    (TOOLS, END_NODE): "done",
    (TOOLS, FINISH): "done",
    (END_NODE, MODEL): "go on",
}
"""What is on the way from one node to another."""

_INSIDE: dict[str, tuple[tuple[HookPoint, ...], WrapPoint | None, tuple[HookPoint, ...]]] = {
    MODEL: (("before_agent", "before_model"), "wrap_model_call", ("after_model",)),
    TOOLS: (("before_tools",), "wrap_tool_call", ("after_tools",)),
    END_NODE: (("on_exit", "after_agent"), None, ()),
}
"""The hook points of each node: before its own work, around it, and behind it."""


@dataclass(frozen=True)
class Step:
    """One thing that a node does."""

    title: str
    detail: str = ""
    layers: tuple[Step, ...] = ()
    """What is wrapped around it, the outermost first."""
    is_hook: bool = True
    """A hook of a middleware does it, not the node itself."""


@dataclass(frozen=True)
class Node:
    """A node of the agent."""

    name: str
    steps: tuple[Step, ...] = ()
    """What it does, in order; nothing where only the node is drawn."""
    entry: int = 0
    """The first step for runs that come back to the node: those before it run once."""


@dataclass(frozen=True)
class Way:
    """A way that a run may take."""

    source: str
    target: str
    label: str = ""


@dataclass(frozen=True)
class Picture:
    """What there is to draw."""

    title: str
    nodes: tuple[Node, ...]
    ways: tuple[Way, ...]
    on_error: tuple[Step, ...] = ()
    """Hooks that run when a node fails, in order."""


def picture_of(graph: Any, *, hooks: bool) -> Picture:
    """What there is to draw of an agent.

    Args:
        graph: What ``create_agent`` returned.
        hooks: Show the steps inside the nodes.

    Raises:
        TypeError: ``graph`` is no agent.
    """
    plan = _plan(graph)
    order = {START: BEGIN, **{name: name for name in plan.nodes}, END: FINISH}
    places = list(order)
    edges = sorted(
        ((edge.source, edge.target) for edge in graph.get_graph().edges),
        key=lambda ends: [places.index(end) for end in ends],
    )
    ways = [(order[source], order[target]) for source, target in edges]
    return Picture(
        title=plan.name or "agent",
        nodes=tuple(_node(plan, name) if hooks else Node(name) for name in plan.nodes),
        ways=tuple(Way(*ends, _LABELS.get(ends, "")) for ends in ways),
        on_error=tuple(map(_step, plan.hooks.hooks["on_error"])) if hooks else (),
    )


def _plan(graph: Any) -> AgentPlan:
    node = getattr(getattr(graph, "nodes", {}).get(MODEL), "bound", None)
    if not isinstance(node, AgentNode):
        msg = f"{graph!r} is no agent; give what create_agent returned."
        raise TypeError(msg)
    return node.plan


def _node(plan: AgentPlan, name: str) -> Node:
    before, around, behind = _INSIDE[name]
    core = [_work(plan, name, plan.hooks.wraps[around], around)] if around else []
    return Node(
        name,
        (*_steps(plan, before), *core, *_steps(plan, behind)),
        entry=len(plan.hooks.hooks["before_agent"]) if name == MODEL else 0,
    )


def _steps(plan: AgentPlan, points: Iterable[HookPoint]) -> Iterator[Step]:
    return (_step(hook) for point in points for hook in plan.hooks.hooks[point])


def _step(hook: Hook) -> Step:
    notes: list[str] = [hook.point]
    if hook.can_jump_to:
        notes.append(f"may jump to {' or '.join(hook.can_jump_to)}")
    if hook.interrupts:
        notes.append("may pause")
    return Step(hook.middleware, ", ".join(notes))


def _work(plan: AgentPlan, name: str, layers: Sequence[Layer], point: WrapPoint) -> Step:
    """What the node itself does, in its layers."""
    wraps = tuple(Step(layer.name.removesuffix(f".{point}"), point) for layer in layers)
    if name == MODEL:
        return Step("ask the model", type(plan.model).__name__, wraps, is_hook=False)
    tools = ", ".join(plan.executor.tools.by_name)
    return Step("run the tools", tools, wraps, is_hook=False)
