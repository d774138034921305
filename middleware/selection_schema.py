"""The answer in which a model names tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from langchain_core.tools import BaseTool


def selection_schema(tools: Sequence[BaseTool]) -> dict[str, Any]:
    """A JSON schema for a list of the tools' names, which describes each tool.

    A plain ``enum``, because not every provider takes a description per allowed value.
    """
    described = "\n".join(f"- {tool.name}: {tool.description}" for tool in tools)
    return {
        "title": "ToolSelectionResponse",
        "description": "Name the tools that are needed.",
        "type": "object",
        "properties": {
            "tools": {
                "type": "array",
                "items": {"type": "string", "enum": [tool.name for tool in tools]},
                "description": f"Names of tools, the most useful one first. The tools are:\n{described}",
            }
        },
        "required": ["tools"],
    }


def read_selection(answer: Any, tools: Sequence[BaseTool]) -> list[str] | None:
    """The names in an answer, each once and in order, or None if it cannot be used.

    Args:
        answer: What the model gave.
        tools: The tools it could choose among; any other name makes the answer unusable.
    """
    given = cast("dict[str, Any]", answer).get("tools") if isinstance(answer, dict) else None
    if not isinstance(given, list):
        return None
    names = list(dict.fromkeys(str(name) for name in cast("list[Any]", given)))
    known = {tool.name for tool in tools}
    return names if known.issuperset(names) else None
