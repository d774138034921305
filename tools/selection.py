"""Which tools one run gets: chosen by name, or given: a pure function."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

from langchain_core.tools import BaseTool

from ..state.errors import InvalidInputError, InvalidInputTypeError
from ..state.suggestion import did_you_mean
from .definition import ToolLike, as_tool
from .toolset import Toolset

Tools = Sequence[ToolLike | Toolset]
"""Tools and toolsets, in order."""

Wanted = Toolset | Sequence[str | ToolLike | Toolset]
"""Names of tools that are there, or other tools."""


def select_tools(available: Tools | Toolset, wanted: Wanted | None) -> list[ToolLike | Toolset]:
    """The tools of one run.

    Args:
        available: The agent's tools and toolsets, which are not changed.
        wanted: None for all of them; names to take some of them, in their own order; tools and
            toolsets to use these instead; both to use the named ones and these. An empty list
            means no tools.

    Returns:
        Tools and toolsets. A toolset with some of its tools named is restricted to them.

    Raises:
        InvalidInputTypeError: ``wanted`` is a single name or no list, or an entry is no tool.
        InvalidInputError: No tool has a wanted name.
    """
    pool: list[ToolLike | Toolset] = [
        *([available] if isinstance(available, Toolset) else available)
    ]
    if wanted is None:
        return pool
    if isinstance(wanted, Toolset):
        return [wanted]
    entries = _listed(wanted)
    names = [entry for entry in entries if isinstance(entry, str)]
    others: list[ToolLike | Toolset] = [e for e in entries if not isinstance(e, str)]
    _check_names(names, selectable_names(pool))
    _check_tools(others)
    return [*_named(pool, set(names)), *others]


def selectable_names(tools: Tools) -> list[str]:
    """The names that a selection can be made of, those of whole catalogs included."""
    return [name for entry in tools for name in _names_of(entry)]


def _listed(wanted: Any) -> list[str | ToolLike | Toolset]:
    if isinstance(wanted, (str, dict, BaseTool)) or not isinstance(wanted, Iterable):
        msg = f"tools is {wanted!r}; give a list of tools, toolsets or names of tools."
        raise InvalidInputTypeError(msg, key="tools")
    return list(cast("Iterable[str | ToolLike | Toolset]", wanted))


def _named(pool: Tools, names: set[str]) -> Iterator[ToolLike | Toolset]:
    for entry in pool:
        chosen = names.intersection(_names_of(entry))
        if not chosen:
            continue
        yield entry.restricted(chosen) if isinstance(entry, Toolset) else entry


def _names_of(entry: ToolLike | Toolset) -> list[str]:
    if isinstance(entry, Toolset):
        return [tool.name for tool in entry.selectable()]
    if isinstance(entry, dict):
        return [_provider_name(cast("dict[str, Any]", entry))]
    return [entry.name if isinstance(entry, BaseTool) else as_tool(entry).name]


def _provider_name(tool: dict[str, Any]) -> str:
    """The name of a provider's own tool: it stands in one of three places."""
    function = cast("dict[str, Any]", tool.get("function") or {})
    return str(tool.get("name") or function.get("name") or tool.get("type"))


def _check_names(names: Sequence[str], known: Sequence[str]) -> None:
    for name in names:
        if name in known:
            continue
        if not known:
            msg = f"Tool {name!r} was asked for by name, but the agent has no tools."
            raise InvalidInputError(msg, key="tools")
        msg = (
            f"The agent has no tool {name!r}; its tools are {', '.join(known)}."
            f"{did_you_mean(name, known)}"
        )
        raise InvalidInputError(msg, key="tools")


def _check_tools(entries: Sequence[Any]) -> None:
    for entry in entries:
        fits = isinstance(entry, (BaseTool, Toolset, dict)) or (
            callable(entry) and not isinstance(entry, type)
        )
        if not fits:
            msg = f"tools holds {entry!r}; give tools, toolsets or names of tools."
            raise InvalidInputTypeError(msg, key="tools")
