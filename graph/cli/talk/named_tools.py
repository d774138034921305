"""Tools that a person names on the command line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from langchain_core.tools import BaseTool

from ....state.errors import ConfigurationError

Tool = BaseTool | Callable[..., Any]


def named_tools(names: Sequence[str]) -> list[Tool]:
    """Import the tools that were named.

    Modules in the current folder are found too, after everything that is installed, so that no
    file there takes the place of a package.

    Args:
        names: Each as ``package.module:name``; the name may be a list of tools.

    Raises:
        ConfigurationError: A name cannot be imported, or is no tool.
    """
    if names and (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)
    return [tool for name in names for tool in _tools(name, _imported(name))]


def _imported(name: str) -> object:
    module, colon, attribute = name.partition(":")
    if not (colon and attribute and all(part.isidentifier() for part in module.split("."))):
        msg = f"--tools {name!r} is no name of a tool. Write it like package.module:function."
        raise ConfigurationError(msg)
    try:
        found: object = import_module(module)
    except Exception as error:  # boundary: importing runs whatever the module holds
        msg = (
            f"--tools {name!r}: importing {module!r} failed with {type(error).__name__}: {error}. "
            "Run the command where the module can be imported, or mend the module."
        )
        raise ConfigurationError(msg) from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            msg = f"--tools {name!r}: {module!r} has no {attribute!r}. Correct the name."
            raise ConfigurationError(msg)
        found = getattr(found, part)
    return found


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
