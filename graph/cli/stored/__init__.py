"""Agents that are stored in a file, for ``interlock run`` and ``interlock draw``."""

from __future__ import annotations

from .agent_file import Allowed, read_agent
from .program import ask, draw_to, inputs_of

__all__ = ["Allowed", "ask", "draw_to", "inputs_of", "read_agent"]
