"""An agent whose runs all leave spans, with the settings that explain how they ended."""

from __future__ import annotations

from typing import Any

from ..compiled import AgentGraph
from ..node import AgentNode
from ..plan import MODEL, AgentPlan
from .callback import OpenTelemetryCallback


def trace_with_opentelemetry(
    agent: AgentGraph, *, tracer_provider: Any = None, content: bool = False
) -> AgentGraph:
    """The agent with :class:`OpenTelemetryCallback` in each of its runs.

    The span of a run then also says which tools, exit conditions, limits and state keys the
    agent was built with.

    Args:
        agent: An agent; it is not changed.
        tracer_provider: Where spans go; OpenTelemetry's global provider if None.
        content: Record what was said, arguments, results and texts of errors as well.

    Raises:
        MissingExtraError: OpenTelemetry is not installed.
    """
    about = _settings(_plan(agent))
    callback = OpenTelemetryCallback(tracer_provider, content=content, about=about)
    return agent.with_config({"callbacks": [callback]})


def _plan(agent: AgentGraph) -> AgentPlan:
    node: Any = agent.builder.nodes[MODEL].runnable
    if not isinstance(node, AgentNode):  # pragma: no cover - create_agent makes no other
        raise TypeError(node)
    return node.plan


def _settings(plan: AgentPlan) -> dict[str, Any]:
    exits = plan.exits
    conditions = [*(["text"] if exits.text else []), *sorted(exits.tools)]
    about: dict[str, Any] = {
        "interlock.tools": list(plan.executor.tools.by_name),
        "interlock.exit_conditions": conditions,
        "interlock.max_agent_steps": exits.max_steps,
        "interlock.state_keys": sorted(plan.schema.fields),
    }
    if exits.max_tokens_total is not None:
        about["interlock.max_tokens_total"] = exits.max_tokens_total
    return about
