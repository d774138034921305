from __future__ import annotations

import functools
from typing import Any

import pytest
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt

from interlock.tools import tool
from interlock.tools.pausing import may_pause

BUILDER: Any = StateGraph(MessagesState)
GRAPH = BUILDER.add_node("n", lambda: None).add_edge(START, "n").compile()


def ask() -> str:
    return str(interrupt("?"))


@tool
def asks() -> str:
    """Ask."""
    return ask()


@tool
def runs() -> str:
    """Run a graph."""
    return str(GRAPH.invoke({"messages": []}))


@tool
def runs_in_parts() -> list[Any]:
    """Run a graph in a function of its own."""
    inputs: list[dict[str, Any]] = [{"messages": []}]
    return [GRAPH.invoke(value) for value in inputs]


@tool
async def waits() -> str:
    """Ask later."""
    return str(interrupt("?"))


@tool
def counts(text: str) -> int:
    """Count."""
    return len(text)


class Plain(BaseTool):
    name: str = "plain"
    description: str = "Plain."

    def _run(self) -> str:
        return ask()


def holding(graph: Any) -> BaseTool:
    @tool
    def inner() -> str:
        """Run what it holds."""
        return str(graph.invoke({}))

    return inner


def built_in() -> BaseTool:
    return StructuredTool.from_function(functools.partial(len), name="len", description="Len.")


@pytest.mark.parametrize(
    "pausing", [asks, runs, runs_in_parts, waits, Plain(), holding(GRAPH)], ids=lambda t: t.name
)
def test_a_tool_that_asks_or_runs_a_graph_may_pause(pausing: BaseTool) -> None:
    assert may_pause(pausing)


@pytest.mark.parametrize("other", [counts, holding({})], ids=lambda t: t.name)
def test_other_tools_do_not(other: BaseTool) -> None:
    assert not may_pause(other)


def test_a_function_without_code_of_its_own_is_no_trouble() -> None:
    class Callable(BaseTool):
        name: str = "len"
        description: str = "Len."
        func: Any = len

        def _run(self) -> None: ...

    assert not may_pause(Callable())
