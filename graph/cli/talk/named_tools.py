"""Tools that a person names on the command line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from langchain_core.tools import BaseTool

from ....state.errors import ConfigurationError
from ..named_object import named_object

Tool = BaseTool | Callable[..., Any]


def named_tools(names: Sequence[str]) -> list[Tool]:
    """Import the tools that were named.

    Args:
        names: Each as ``package.module:name``; the name may be a list of tools.

    Raises:
        ConfigurationError: A name cannot be imported, or is no tool.
    """
    return [tool for name in names for tool in _tools(name, _imported(name))]


def _imported(name: str) -> object:
    not_a_name = "is no name of a tool. Write it like package.module:function."
    return named_object("--tools", name, not_a_name)


def _tools(name: str, found: object) -> list[Tool]:
    many = isinstance(found, (list, tuple))
    tools = list(cast("Sequence[object]", found)) if many else [found]
    for tool in tools:
        if not (isinstance(tool, BaseTool) or callable(tool)):
            msg = (
                f"--tools {name!r} is a {type(tool).__name__}, not a tool. "
                "Name a function with a docstring, a tool object or a list of them."
            )
            raise ConfigurationError(msg)
    return cast("list[Tool]", tools)
