"""Settings by tool: one for a tool, one for several tools, one for all others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from ..state.errors import ConfigurationError

T = TypeVar("T")

ToolKey = str | tuple[str, ...]
"""A tool's name, the names of several tools, or ``"*"`` for every other tool."""

WILDCARD = "*"


class PerTool(Generic[T]):
    """Looks up the setting of a tool: its own entry, else a tuple with its name, else ``"*"``.

    >>> limits = PerTool({"search": 5, ("read", "list"): 10, "*": 99}, "limits")
    >>> limits.of("search"), limits.of("list"), limits.of("other")
    (5, 10, 99)
    """

    def __init__(self, entries: Mapping[ToolKey, T], setting: str) -> None:
        """Check the keys.

        Args:
            entries: Settings by tool.
            setting: What the caller calls them, for errors.

        Raises:
            ConfigurationError: A key names no tool, or a tool is in two tuples.
        """
        self._exact: dict[str, T] = {}
        self._grouped: dict[str, T] = {}
        self._default = entries.get(WILDCARD)
        for key, value in entries.items():
            if isinstance(key, str):
                self._exact[_name(key, key, setting)] = value
                continue
            for name in _names(key, setting):
                if name in self._grouped or name == WILDCARD:
                    msg = f"{setting}: {name!r} of {key!r} is given elsewhere too; keep one entry."
                    raise ConfigurationError(msg)
                self._grouped[name] = value

    def of(self, tool_name: str) -> T | None:
        """The setting of a tool, or None if no entry is for it."""
        for group in (self._exact, self._grouped):
            if tool_name in group:
                return group[tool_name]
        return self._default


def _names(key: Any, setting: str) -> tuple[str, ...]:
    if not isinstance(key, tuple) or not key:
        raise _no_name(key, setting)
    return tuple(_name(n, key, setting) for n in key)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] # a caller's tuple


def _name(name: Any, key: Any, setting: str) -> str:
    if not isinstance(name, str) or not name.strip():
        raise _no_name(key, setting)
    return name


def _no_name(key: Any, setting: str) -> ConfigurationError:
    msg = f"{setting}: {key!r} names no tool; give a name, a tuple of names, or '*'."
    return ConfigurationError(msg)
