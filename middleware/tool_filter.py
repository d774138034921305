"""Which tools a middleware acts on, given as tools or by name."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langgraph.prebuilt.tool_node import ToolCallRequest

from ..state.errors import ConfigurationError


def tool_names(tools: Iterable[BaseTool | str] | None, setting: str = "tools") -> list[str] | None:
    """The names of some tools; None stands for all tools.

    Args:
        tools: Tools or their names.
        setting: What the caller calls them, for the error.

    Raises:
        ConfigurationError: It is a single name, or an entry is no tool.
    """
    if tools is None:
        return None
    if isinstance(tools, str):
        msg = f"{setting} is the name {tools!r}; give a list of names or tools: [{tools!r}]."
        raise ConfigurationError(msg)
    return [_name(tool, setting) for tool in tools]


def called_tool(request: ToolCallRequest) -> str:
    """The name of the tool that a request is for, which a layer may have exchanged."""
    return request.tool.name if request.tool is not None else request.tool_call["name"]


def concerns(request: ToolCallRequest, names: Collection[str] | None) -> bool:
    """Whether a request is for one of the named tools; None stands for all tools."""
    return names is None or called_tool(request) in names


def error_answer(request: ToolCallRequest, content: Any) -> ToolMessage:
    """An error result for the call of a request."""
    return ToolMessage(
        content=content,
        tool_call_id=request.tool_call["id"] or "",
        name=request.tool_call["name"],
        status="error",
    )


def _name(tool: Any, setting: str) -> str:
    name = tool if isinstance(tool, str) else getattr(tool, "name", None)
    if not isinstance(name, str) or not name.strip():
        msg = f"{setting} holds {tool!r}; give names or tool objects."
        raise ConfigurationError(msg)
    return name.strip()
