"""The tools of an agent as they are now: toolsets are looked at again at each step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langchain_core.tools import BaseTool

from ..state.working import WorkingState
from ..tools.calls import Calls, Dual
from ..tools.definition import ToolLike, ToolSet, collect_tools
from ..tools.execution import ToolExecutor
from ..tools.toolset import Toolset
from .binding import ModelBinder

if TYPE_CHECKING:
    from .plan import AgentPlan

Sources = Sequence[tuple[str, Sequence[Any]]]
"""Tools and toolsets by owner: a middleware, the agent, or one run of it."""

_BEGINNING: Mapping[str, Any] = {"messages": []}
"""The state that toolsets are shown before there is a run."""

_REMEMBERED = 16
"""Combinations of tools that are kept ready."""


@dataclass(frozen=True)
class Ready:
    """A combination of tools, ready to be offered and run."""

    executor: ToolExecutor
    binder: ModelBinder
    kept: tuple[Any, ...]
    """The tools, so that their ids stay theirs."""


class LiveTools:
    """Tools of several owners, toolsets among them. Runs share it and keep nothing in it."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self.toolsets = toolsets_in(sources)
        self._ready: dict[tuple[int, ...], Ready] = {}

    @property
    def loaded(self) -> bool:
        """Whether all tools are known."""
        return all(toolset.loaded for toolset in self.toolsets)

    async def find(self, calls: Calls) -> None:
        """Let every toolset find its tools that has not done so."""
        for toolset in self.toolsets:
            if not toolset.loaded:
                await calls.call(Dual(f"{toolset.name}.warm_up", sync=toolset.warm_up))

    def now(self, plan: AgentPlan, state: Mapping[str, Any]) -> Ready:
        """What a run is offered in this step.

        Raises:
            ToolDefinitionError: Two tools have one name now.
        """
        sources = [*_looked_at(self._sources, state)]
        key = tuple(id(tool) for _, tools in sources for tool in tools)
        ready = self._ready.get(key)
        if ready is None:
            tools = collect_tools(sources)
            plan.output.check_tool_names(tools.by_name)
            executor = ToolExecutor(tools, plan.executor.wraps, plan.executor.policy)
            kept = tuple(tool for _, tools in sources for tool in tools)
            ready = Ready(executor, plan.binder.knowing(tools.by_name), kept)
            if len(self._ready) >= _REMEMBERED:
                self._ready = {}
            self._ready[key] = ready
        return ready


class StepTools:
    """The tools that a run works with, until its next model call."""

    def __init__(self, plan: AgentPlan, work: WorkingState) -> None:
        self._plan = plan
        self._work = work
        self._ready: Ready | None = None

    @property
    def executor(self) -> ToolExecutor:
        """What runs the tools."""
        ready = self._now()
        return self._plan.executor if ready is None else ready.executor

    @property
    def binder(self) -> ModelBinder:
        """What gives them to a model."""
        ready = self._now()
        return self._plan.binder if ready is None else ready.binder

    def renew(self) -> None:
        """Look at the toolsets again: a step begins."""
        self._ready = None

    def _now(self) -> Ready | None:
        live = self._plan.live
        if live is not None and self._ready is None:
            self._ready = live.now(self._plan, self._work.values)
        return self._ready


def live_tools(sources: Sources) -> LiveTools | None:
    """The tools of these owners, if there is a toolset among them."""
    return LiveTools(sources) if toolsets_in(sources) else None


def toolsets_in(sources: Sources) -> list[Toolset]:
    """Every toolset, joined ones taken apart."""
    return [
        part
        for _, entries in sources
        for entry in entries
        if isinstance(entry, Toolset)
        for part in entry.parts
    ]


def offered_first(sources: Sources) -> ToolSet:
    """The tools at the beginning of a run, as far as they are known.

    Raises:
        ToolDefinitionError: A tool cannot be used, or two have one name.
    """
    return collect_tools(_looked_at(_loaded(sources), _BEGINNING))


def known_tools(sources: Sources) -> ToolSet:
    """Every tool that there may be in a run, as far as they are known: whole catalogs.

    Raises:
        ToolDefinitionError: A tool cannot be used, or two have one name.
    """
    loaded = list(_loaded(sources))
    catalogs = [(_owner(part), part.selectable()) for part in toolsets_in(loaded)]
    return collect_tools([*_looked_at(loaded, _BEGINNING), *catalogs])


def _loaded(sources: Sources) -> Iterable[tuple[str, Sequence[Any]]]:
    for owner, entries in sources:
        yield owner, [e for e in entries if not isinstance(e, Toolset) or e.loaded]


def _looked_at(
    sources: Iterable[tuple[str, Sequence[Any]]], state: Mapping[str, Any]
) -> Iterable[tuple[str, Sequence[ToolLike]]]:
    for owner, entries in sources:
        for entry in entries:
            if not isinstance(entry, Toolset):
                yield owner, (entry,)
                continue
            for part in entry.parts:
                tools: list[BaseTool] = list(part.visible(state))
                yield _owner(part), tools


def _owner(toolset: Toolset) -> str:
    return f"toolset {toolset.name!r}"
