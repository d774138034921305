"""A large catalog of tools, of which the model sees those that it searched for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, NotRequired, Self

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, InjectedToolCallId, StructuredTool
from langgraph.types import Command

from ..state.errors import ConfigurationError
from ..state.schema import AgentState, PrivateStateAttr
from .keyword_search import rank, words_of
from .toolset import Source, Toolset

SEARCH = (
    "Find tools by keywords. You have more tools than those you see: search for one before you say "
    "that something cannot be done. What is found can be called from your next reply on."
)
NO_WORDS = "Say in a few keywords what the tool should do, for example: send mail."
NOTHING = "No tool fits {keywords!r}. Try other keywords, or more general ones."
FOUND = "You can call these tools now:\n{tools}"

FoundTools = Mapping[str, Sequence[str]]
"""Names of the tools that were found, by name of the toolset, the latest last."""


def merge_found(current: FoundTools | None, update: FoundTools) -> dict[str, list[str]]:
    """What was found, with the result of another search: the reducer of the state key.

    >>> merge_found({"crm": ["a", "b"]}, {"crm": ["a", "c"]})
    {'crm': ['b', 'a', 'c']}
    """
    merged = {name: list(tools) for name, tools in (current or {}).items()}
    for name, tools in update.items():
        before = [tool for tool in merged.get(name, []) if tool not in tools]
        merged[name] = [*before, *dict.fromkeys(tools)]
    return merged


class FoundToolsState(AgentState[Any]):
    """What a searchable toolset keeps in the state."""

    found_tools: NotRequired[Annotated[dict[str, list[str]], PrivateStateAttr, merge_found]]


class SearchableToolset(Toolset):
    """A catalog that the model searches: it is offered a search tool and what it found.

    What was found is kept in the state of the thread by name, so it is there again after a pause,
    in another process and in the next run, and nobody else sees it. A tool that has not been found
    cannot be called. A small catalog is offered as a whole, without a search tool.

    Args:
        catalog: Tools, functions and toolsets, or a function that returns them, as of
            :class:`Toolset`.
        name: Name of the catalog, unlike that of any other of the agent.
        top_k: Tools that one search finds, at most.
        search_threshold: Size from which on the catalog is searched.
        max_visible: Tools found that are offered at the same time; the latest ones stay.
        search_tool_name: Name of the search tool.
        on_close: Called by ``close``.

    Raises:
        ConfigurationError: A number is below 1.
        ToolDefinitionError: An entry cannot be a tool, or two of them share a name.
    """

    state_schema = FoundToolsState

    def __init__(
        self,
        catalog: Source,
        *,
        name: str = "catalog",
        top_k: int = 3,
        search_threshold: int = 8,
        max_visible: int = 30,
        search_tool_name: str = "search_tools",
        on_close: Callable[[], Any] | None = None,
    ) -> None:
        for setting, value in (
            ("top_k", top_k),
            ("search_threshold", search_threshold),
            ("max_visible", max_visible),
        ):
            if isinstance(value, bool) or value < 1:
                msg = f"{setting} is {value!r}; give a number from 1 on."
                raise ConfigurationError(msg)
        super().__init__(catalog, name=name, on_close=on_close)
        self.top_k = top_k
        self.search_threshold = search_threshold
        self.max_visible = max_visible
        self.search_tool = StructuredTool.from_function(
            self._search, name=search_tool_name, description=SEARCH
        )

    def search(self, keywords: str) -> list[BaseTool]:
        """The tools of the catalog that fit keywords best, the best one first.

        Args:
            keywords: Words of the names and descriptions of tools.
        """
        catalog = self.selectable()
        texts = [f"{tool.name} {tool.name} {tool.description}" for tool in catalog]
        return [catalog[position] for position in rank(keywords, texts, self.top_k)]

    def visible(self, state: Mapping[str, Any]) -> Iterable[BaseTool]:
        """The search tool and what was found, or the whole of a small catalog."""
        catalog = self._catalog
        if len(catalog) < self.search_threshold:
            return list(catalog.values())
        found: FoundTools = state.get("found_tools") or {}
        # The catalog of another process may lack what was found then.
        known = [name for name in found.get(self.name, ()) if name in catalog]
        return [self.search_tool, *(catalog[name] for name in known[-self.max_visible :])]

    def selectable(self) -> Sequence[BaseTool]:
        """The whole catalog."""
        return list(self._catalog.values())

    @property
    def _catalog(self) -> Mapping[str, BaseTool]:
        self._load()
        return self._by_name

    def restricted(self, names: Iterable[str]) -> Self:
        """A catalog of some of the tools, searched in the same way."""
        wanted = set(names)
        return type(self)(
            [tool for tool in self.selectable() if tool.name in wanted],
            name=self.name,
            top_k=self.top_k,
            search_threshold=self.search_threshold,
            max_visible=self.max_visible,
            search_tool_name=self.search_tool.name,
        )

    def __iter__(self) -> Iterator[BaseTool]:
        """The tools that are offered while nothing has been found."""
        return iter(self.visible({}))

    def __contains__(self, tool: object) -> bool:
        """Whether a tool, or one of this name, is in the catalog or searches it."""
        every = [self.search_tool, *self.selectable()]
        return any(tool is t or (isinstance(tool, str) and tool == t.name) for t in every)

    def _search(
        self, keywords: str, tool_call_id: Annotated[str, InjectedToolCallId]
    ) -> Command[Any]:
        found = self.search(keywords)
        if not words_of(keywords):
            text = NO_WORDS
        elif not found:
            text = NOTHING.format(keywords=keywords)
        else:
            text = FOUND.format(tools="\n".join(f"- {t.name}: {_summary(t)}" for t in found))
        message = ToolMessage(text, tool_call_id=tool_call_id, name=self.search_tool.name)
        update: dict[str, Any] = {"messages": [message]}
        if found:
            update["found_tools"] = {self.name: [tool.name for tool in found]}
        return Command(update=update)


def _summary(tool: BaseTool) -> str:
    """The first paragraph of a description: the whole of it comes with the tool itself."""
    return " ".join(tool.description.strip().split("\n\n")[0].split())
