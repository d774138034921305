"""What a tool takes from the state, and what the model may give in its place."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from langchain_core.tools import BaseTool
from pydantic import BaseModel, Field

from interlock.state import (
    ToolDefinitionError,
)
from interlock.tools import tool

SCHEMA: dict[str, Any] = {"docs": {"type": list[str]}, "last": {"type": str}}
GO = {"messages": "go"}


@tool(outputs_to_state={"docs": {}})
def search(query: str) -> list[str]:
    """Search."""
    return [query]


@tool(inputs_from_state={"docs": "documents"})
def count(documents: list[str]) -> str:
    """Count."""
    return f"{len(documents)} documents"


@pytest.fixture
def options(stored: dict[str, Any]) -> dict[str, Any]:
    return {"state_schema": SCHEMA, **stored}


async def test_what_a_key_lacks_is_an_argument_left_out(
    run: Any, options: Any, thread: Any, agent_of: Any, results: Any
) -> None:
    @tool(inputs_from_state={"last": "word", "docs": "documents"})
    def show(documents: list[str], word: str = "none") -> str:
        """Show."""
        return f"{word} {documents}"

    agent = agent_of([show], ("show", {}), **options)
    assert (
        "state key 'docs', which the state does not have"
        in results(await run(agent, GO, thread))["c0"]
    )
    agent = agent_of([show], ("show", {}), state_schema=SCHEMA)
    assert results(await run(agent, {**GO, "docs": ["a"]})) == {"c0": "none ['a']"}


async def test_the_model_cannot_forge_what_it_is_not_offered(
    run: Any, agent_of: Any, results: Any
) -> None:
    agent = agent_of([count], ("count", {"documents": ["x", "y"]}), state_schema=SCHEMA)
    assert results(await run(agent, {**GO, "docs": ["a"]})) == {"c0": "1 documents"}


async def test_what_the_model_is_offered_and_sends_goes_first(
    run: Any, agent_of: Any, results: Any
) -> None:
    class Args(BaseModel):
        documents: list[str] = Field(default_factory=list[str])

    function: Any = vars(count)["func"]
    offered = tool(args_schema=Args, inputs_from_state={"docs": "documents"})(function)
    calls: list[Any] = [
        ("count", {"documents": ["x", "y", "z"]}),
        ("search", {"query": "b"}),
        ("count", {}),
    ]
    agent = agent_of([search, offered], *calls, state_schema=SCHEMA)
    found = results(await run(agent, {**GO, "docs": ["a"]}))
    assert (found["c0"], found["c2"]) == ("3 documents", "2 documents")


async def test_a_name_alone_takes_nothing_from_the_state(
    run: Any, agent_of: Any, results: Any
) -> None:
    @tool
    def plain(docs: str = "own") -> str:
        """Show."""
        return docs

    agent = agent_of([plain], ("plain", {}), state_schema=SCHEMA)
    assert results(await run(agent, {**GO, "docs": ["a"]})) == {"c0": "own"}


async def test_a_tool_object_may_declare_by_attributes(
    run: Any, agent_of: Any, results: Any
) -> None:
    class Lister(BaseTool):
        name: str = "lister"
        description: str = "List."
        inputs_from_state: ClassVar[Any] = {"docs": "documents"}
        outputs_to_state: ClassVar[Any] = {"last": {}}

        def _run(self, documents: list[str]) -> str:
            return ",".join(documents)

    result = await run(
        agent_of([Lister()], ("lister", {}), state_schema=SCHEMA), {**GO, "docs": ["a", "b"]}
    )
    assert (results(result), result["last"]) == ({"c0": "a,b"}, "a,b")


async def test_a_tool_does_not_share_its_arguments_with_the_state(run: Any, agent_of: Any) -> None:
    @tool(inputs_from_state={"table": "table"})
    def spoil(table: dict[str, list[int]]) -> str:
        """Spoil."""
        table["a"].append(9)
        table["b"] = []
        return str(table)

    schema = {"table": {"type": dict[str, list[int]]}}
    agent = agent_of([spoil], ("spoil", {}), state_schema=schema)
    assert (await run(agent, {**GO, "table": {"a": [1]}}))["table"] == {"a": [1]}


def test_state_keys_of_tools_are_checked_when_the_agent_is_built(agent_of: Any) -> None:
    @tool(inputs_from_state={"dcs": "documents"})
    def typo(documents: list[str]) -> str:
        """Count."""
        return str(documents)

    with pytest.raises(ToolDefinitionError, match=r"'typo'.*'dcs'.*Did you mean 'docs'\?"):
        agent_of([typo], ("typo", {}), state_schema=SCHEMA)
