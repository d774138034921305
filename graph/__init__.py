"""What runs: the agent, its three nodes, routing, structured output, models and commands.

Open ``agent.py`` first: ``create_agent`` builds the graph. ``blueprint/`` holds ``Agent``, the same
as a value, ``prompts/`` its templates, ``composition/`` is for agents together. ``turn.py`` runs the phases of a node,
``routing.py`` decides where a run goes, ``structured_output/`` reads structured answers,
``models/`` holds chat models, ``drawing/`` makes pictures, ``cli/`` is the command line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..state.lazy import lazy_names
from ..state.schema import AgentState
from .agent import create_agent
from .approvals import WaitingThread, aanswer, answer, apending, pending, waiting_threads
from .compiled import AgentGraph
from .composition import SubagentTransformer, agent_node, agent_tool, handoff_tool
from .drawing import draw, draw_svg
from .snapshots import aresume_snapshot, resume_snapshot
from .structured_output import (
    AutoStrategy,
    MultipleStructuredOutputsError,
    ProviderStrategy,
    StructuredOutputError,
    StructuredOutputValidationError,
    ToolStrategy,
)

if TYPE_CHECKING:
    from .blueprint import Agent, print_streaming_chunk
    from .extraction import aextract, extract
    from .serialization import Registry
    from .tracing import OpenTelemetryCallback, trace_with_opentelemetry
else:
    # What not every agent needs, and what needs most to load.
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "blueprint": ["Agent", "print_streaming_chunk"],
            "extraction": ["aextract", "extract"],
            "serialization": ["Registry"],
            "tracing": ["OpenTelemetryCallback", "trace_with_opentelemetry"],
        },
    )

__all__ = [
    "Agent",
    "AgentGraph",
    "AgentState",
    "AutoStrategy",
    "MultipleStructuredOutputsError",
    "OpenTelemetryCallback",
    "ProviderStrategy",
    "Registry",
    "StructuredOutputError",
    "StructuredOutputValidationError",
    "SubagentTransformer",
    "ToolStrategy",
    "WaitingThread",
    "aanswer",
    "aextract",
    "agent_node",
    "agent_tool",
    "answer",
    "apending",
    "aresume_snapshot",
    "create_agent",
    "draw",
    "draw_svg",
    "extract",
    "handoff_tool",
    "pending",
    "print_streaming_chunk",
    "resume_snapshot",
    "trace_with_opentelemetry",
    "waiting_threads",
]
