"""Groups of tools, usable wherever a list of tools is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from threading import RLock
from typing import Any, Self, cast

from langchain_core.tools import BaseTool

from ..state.errors import ConfigurationError, ToolDefinitionError
from .definition import ToolLike, as_tool, check_tool

Source = Iterable["ToolLike | Toolset"] | Callable[[], Iterable["ToolLike | Toolset"]]
"""Tools and groups of them, or a function that finds them when they are first needed."""


class Toolset:
    """A named group of tools: iterate it, add to it, join it with ``+``.

    Give it to ``create_agent`` as ``tools``, or in that list beside plain tools. An agent looks at
    it again at each step, so a tool that is added during a run is offered from the next step on.
    For tools of another kind derive from it and override ``__iter__``, which is called often and
    must be quick, or :meth:`visible`.

    >>> def add(a: int, b: int) -> int:
    ...     "Add two numbers."
    ...     return a + b
    >>> numbers = Toolset([add], name="numbers")
    >>> "add" in numbers, len(numbers), [tool.name for tool in numbers]
    (True, 1, ['add'])

    Args:
        tools: Tool objects, functions and toolsets, whose tools are taken over as they are then;
            or a function that returns these. It is called once, by :meth:`warm_up` or when the
            tools are first needed.
        name: Name of the group, in errors and for :class:`SearchableToolset`.
        on_close: Called by :meth:`close`, for example to end a connection.

    Raises:
        ToolDefinitionError: An entry cannot be a tool, or two of them share a name.
    """

    state_schema: type[Any] | None = None
    """State keys that the toolset keeps, which agents add to theirs."""

    def __init__(
        self,
        tools: Source = (),
        *,
        name: str = "toolset",
        on_close: Callable[[], Any] | None = None,
    ) -> None:
        self.name = name
        self._on_close = on_close
        self._by_name: dict[str, BaseTool] = {}
        self._loading = RLock()
        self._find: Callable[[], Iterable[ToolLike | Toolset]] | None = None
        if callable(tools):
            self._find = tools
            return
        given = list(tools)
        if all(entry.loaded for entry in given if isinstance(entry, Toolset)):
            self._take(given)
        else:
            self._find = lambda: given

    @property
    def loaded(self) -> bool:
        """Whether the tools are known, so that looking at them does not find them first."""
        return self._find is None

    @property
    def parts(self) -> tuple[Toolset, ...]:
        """The groups that this one is made of: itself, unless it was joined."""
        return (self,)

    def warm_up(self) -> None:
        """Find the tools and let each get ready that wants to; may be called again."""
        self._load()
        for tool in self._by_name.values():
            if callable(ready := getattr(tool, "warm_up", None)):
                ready()

    def close(self) -> None:
        """Release what the tools and the group hold; may be called again."""
        for tool in self._by_name.values():
            if callable(end := getattr(tool, "close", None)):
                end()
        if self._on_close is not None:
            self._on_close()

    def add(self, tool: ToolLike | Toolset) -> None:
        """Add a tool, or all tools of a group.

        Raises:
            ToolDefinitionError: It cannot be a tool, or its name is taken. Nothing is added then.
        """
        self._load()
        self._take([tool])

    def visible(self, state: Mapping[str, Any]) -> Iterable[BaseTool]:  # noqa: ARG002
        """The tools that a model is offered now.

        Args:
            state: The state of the run; only ``messages``, and none of them, while an agent is
                built.
        """
        return self

    def selectable(self) -> Sequence[BaseTool]:
        """Every tool that can be chosen by name, whether or not it is visible yet."""
        return list(self)

    def restricted(self, names: Iterable[str]) -> Toolset:
        """A group of some of the tools; this one is not changed.

        Args:
            names: Names of :meth:`selectable` tools.
        """
        wanted = set(names)
        return Toolset([t for t in self.selectable() if t.name in wanted], name=self.name)

    def __iter__(self) -> Iterator[BaseTool]:
        self._load()
        return iter(list(self._by_name.values()))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        # Whether there are tools may not be known yet; asking must not find them.
        return True

    def __getitem__(self, index: int) -> BaseTool:
        return list(self)[index]

    def __contains__(self, tool: object) -> bool:
        """Whether a tool, or one of this name, is in the group."""
        return any(tool is t or (isinstance(tool, str) and tool == t.name) for t in self)

    def __add__(self, other: ToolLike | Toolset | Iterable[ToolLike]) -> Toolset:
        return JoinedToolset([self, _as_toolset(other)])

    def __radd__(self, other: Iterable[ToolLike]) -> Toolset:
        return JoinedToolset([_as_toolset(other), self])

    def __repr__(self) -> str:
        known = ", ".join(t.name for t in self) if self.loaded else "not found yet"
        return f"{type(self).__name__}({self.name!r}: {known})"

    def _load(self) -> None:
        if self._find is None:
            return
        with self._loading:
            if self._find is not None:
                self._take(self._find())
                self._find = None

    def _take(self, tools: Iterable[ToolLike | Toolset]) -> None:
        taken = dict(self._by_name)
        for entry in _flat(tools):
            if isinstance(entry, dict):
                msg = (
                    f"Toolset {self.name!r} was given {entry!r}, a provider's own tool; put it "
                    "into the agent's list of tools, beside the toolset."
                )
                raise ToolDefinitionError(msg)
            tool = as_tool(entry)
            if taken.get(tool.name, tool) is not tool:
                msg = f"Two tools of toolset {self.name!r} are named {tool.name!r}; rename one of them."
                raise ToolDefinitionError(msg, tool_name=tool.name)
            check_tool(tool)
            taken[tool.name] = tool
        self._by_name = taken


class JoinedToolset(Toolset):
    """Several groups as one: what is found in one of them later is found in this one too."""

    def __init__(self, sets: Sequence[Toolset]) -> None:
        self._parts = tuple(part for each in sets for part in each.parts)
        super().__init__(name=" + ".join(part.name for part in self._parts))
        known: dict[str, tuple[BaseTool, str]] = {}
        for part in self._parts:
            for tool in part if part.loaded else ():
                other, owner = known.setdefault(tool.name, (tool, part.name))
                if other is not tool:
                    msg = (
                        f"Toolsets {owner!r} and {part.name!r} both have a tool {tool.name!r}; "
                        "rename one of them."
                    )
                    raise ToolDefinitionError(msg, tool_name=tool.name)

    @property
    def parts(self) -> tuple[Toolset, ...]:
        """The groups in the order in which they were joined."""
        return self._parts

    @property
    def loaded(self) -> bool:
        """Whether the tools of all groups are known."""
        return all(part.loaded for part in self._parts)

    def warm_up(self) -> None:
        """Warm up every group."""
        for part in self._parts:
            part.warm_up()

    def close(self) -> None:
        """Close every group."""
        for part in self._parts:
            part.close()

    def add(self, tool: ToolLike | Toolset) -> None:
        """Refused: nobody could tell which of the groups it should go to.

        Raises:
            ConfigurationError: Always.
        """
        names = ", ".join(repr(part.name) for part in self._parts)
        msg = f"{tool!r} was added to joined toolsets; add it to one of {names}, or join it with +."
        raise ConfigurationError(msg)

    def visible(self, state: Mapping[str, Any]) -> Iterable[BaseTool]:
        """The tools of every group that a model is offered now."""
        return [tool for part in self._parts for tool in part.visible(state)]

    def selectable(self) -> Sequence[BaseTool]:
        """The tools of every group that can be chosen by name."""
        return [tool for part in self._parts for tool in part.selectable()]

    def restricted(self, names: Iterable[str]) -> Self:
        """The groups, each restricted."""
        wanted = list(names)
        return type(self)([part.restricted(wanted) for part in self._parts])

    def __iter__(self) -> Iterator[BaseTool]:
        return iter([tool for part in self._parts for tool in part])


def _flat(tools: Iterable[ToolLike | Toolset]) -> Iterator[ToolLike]:
    for entry in tools:
        yield from entry.selectable() if isinstance(entry, Toolset) else (entry,)


def _as_toolset(tools: Any) -> Toolset:
    if isinstance(tools, Toolset):
        return tools
    single = isinstance(tools, BaseTool) or callable(tools)
    return Toolset([tools] if single else cast("Iterable[ToolLike]", tools), name="tools")
