"""What acts: tool definitions, injected arguments and the executor.

Open ``execution.py`` first: it runs the calls of a reply. ``definition.py`` checks tools when an
agent is built, ``injection.py`` finds the arguments that the run fills in, ``state_mapping.py``
what a tool gives to the state, ``batches.py`` the order of calls, ``results.py`` and
``error_text.py`` say what the model gets to read, ``calls.py`` is the port that lets one body of
code serve synchronous and asynchronous runs. ``toolset.py`` groups tools, ``searchable_toolset.py`` is
for large catalogs, ``selection.py`` chooses the tools of one run.
"""

from __future__ import annotations

from langchain_core.tools import (
    BaseTool,
    InjectedToolArg,
    InjectedToolCallId,
    StructuredTool,
    ToolException,
)
from langgraph.prebuilt import InjectedState, InjectedStore, ToolRuntime
from langgraph.prebuilt.tool_node import ToolCallRequest

from .decorator import StateTool, tool
from .definition import collect_tools
from .execution import OnToolError, ToolExecutor, ToolPolicy
from .http_fetch import http_fetch_tool
from .mcp import McpServer
from .node import ToolNode
from .results import CallResult
from .searchable_toolset import SearchableToolset
from .selection import select_tools
from .toolset import Toolset

__all__ = [
    "BaseTool",
    "CallResult",
    "InjectedState",
    "InjectedStore",
    "InjectedToolArg",
    "InjectedToolCallId",
    "McpServer",
    "OnToolError",
    "SearchableToolset",
    "StateTool",
    "StructuredTool",
    "ToolCallRequest",
    "ToolException",
    "ToolExecutor",
    "ToolNode",
    "ToolPolicy",
    "ToolRuntime",
    "Toolset",
    "collect_tools",
    "http_fetch_tool",
    "select_tools",
    "tool",
]
