"""Agents made of agents: one as a tool of another, as a node of a larger graph, as a peer.

Open ``agent_tool.py`` first. ``sub_agent.py`` is one call of an agent, ``nesting.py`` says where in
the thread it is kept; ``agent_node.py`` and ``handoff_tool.py`` are for agents side by side.
``sub_agent_stream.py`` shows agents inside a run as streams.
"""

from __future__ import annotations

from .agent_node import agent_node
from .agent_tool import agent_tool
from .handoff_tool import handoff_tool
from .sub_agent_stream import SubagentTransformer

__all__ = ["SubagentTransformer", "agent_node", "agent_tool", "handoff_tool"]
