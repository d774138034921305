"""Tools that take from the state and give to it, in whole runs."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from pydantic import BaseModel, Field

from interlock.graph import create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.state import (
    ConfigurationError,
    InvalidUpdateError,
    State,
    ToolDefinitionError,
    merge_lists,
    replace_values,
)
from interlock.tools import InjectedState, ToolNode, tool


def total(current: int | None, new: int) -> int:
    return (current or 0) + new


SCHEMA: dict[str, Any] = {
    "docs": {"type": list[str]},
    "total": {"type": int, "handler": total},
    "last": {"type": str},
}


def ask(*calls: tuple[str, dict[str, Any]]) -> AIMessage:
    made = [
        {"name": name, "args": args, "id": f"c{n}", "type": "tool_call"}
        for n, (name, args) in enumerate(calls)
    ]
    return AIMessage("", tool_calls=made)


@tool(
    outputs_to_state={"docs": {"source": "found"}, "total": {"source": "size"}},
    outputs_to_string={"source": "text"},
)
def search(query: str) -> dict[str, Any]:
    """Search."""
    return {"found": [query], "size": len(query), "text": f"found {query}"}


@tool(inputs_from_state={"docs": "documents"})
def count(documents: list[str]) -> str:
    """Count."""
    return f"{len(documents)} documents"


@tool
def note(text: str, state: State) -> str:
    """Note."""
    state.set("docs", text)
    state.set("last", text)
    return f"{len(state['docs'])} notes"


@pytest.fixture(params=["stored", "unstored"])
def options(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Settings of an agent with and without a checkpointer."""
    saver = {"checkpointer": InMemorySaver()} if request.param == "stored" else {}
    return {"state_schema": SCHEMA, **saver}


def agent_of(tools: list[Any], *calls: tuple[str, dict[str, Any]], **settings: Any) -> Any:
    return create_agent(ScriptedChatModel([ask(*calls), "done"]), tools, **settings)


def results(result: dict[str, Any]) -> dict[str, str]:
    """The text of each tool result, by the id of its call."""
    return {m.tool_call_id: m.text for m in result["messages"] if isinstance(m, ToolMessage)}


GO = {"messages": "go"}


async def test_parts_of_a_result_reach_the_state_and_the_rest_the_model(
    run: Any, options: Any, thread: Any
) -> None:
    agent = agent_of([search], ("search", {"query": "ab"}), ("search", {"query": "c"}), **options)
    result = await run(agent, GO, thread)
    assert results(result) == {"c0": "found ab", "c1": "found c"}
    assert (result["docs"], result["total"]) == (["ab", "c"], 3)


@pytest.mark.parametrize("first", ["search", "count"])
async def test_a_reader_runs_after_the_writers_of_its_reply(
    run: Any, options: Any, thread: Any, first: str
) -> None:
    calls: list[Any] = [("search", {"query": "a"}), ("count", {}), ("search", {"query": "b"})]
    calls = calls if first == "search" else [calls[1], calls[0], calls[2]]
    result = await run(agent_of([search, count], *calls, **options), GO, thread)
    assert results(result)["c1" if first == "search" else "c0"] == "2 documents"
    assert list(results(result)) == ["c0", "c1", "c2"]


async def test_what_is_faster_changes_no_result(run: Any, options: Any, thread: Any) -> None:
    finished = threading.Event()

    @tool(outputs_to_state={"docs": {}, "last": {}})
    def slow() -> str:
        """Finish last."""
        assert finished.wait(10)
        return "slow"

    @tool(outputs_to_state={"docs": {}, "last": {}})
    def fast() -> str:
        """Finish first."""
        finished.set()
        return "fast"

    result = await run(agent_of([slow, fast], ("slow", {}), ("fast", {}), **options), GO, thread)
    assert (result["docs"], result["last"]) == (["slow", "fast"], "fast")
    assert list(results(result).values()) == ["slow", "fast"]


async def test_of_two_exit_tools_the_first_call_counts_even_if_it_ran_last(
    run: Any, options: Any, thread: Any
) -> None:
    calls: list[Any] = [("count", {}), ("search", {"query": "a"})]
    exits = {"exit_conditions": ["search", "count"]}
    result = await run(agent_of([search, count], *calls, **options, **exits), GO, thread)
    assert result["exit_reason"] == "count"


async def test_the_live_state_sees_and_is_seen(run: Any, options: Any, thread: Any) -> None:
    calls: list[Any] = [("search", {"query": "a"}), ("note", {"text": "n"}), ("count", {})]
    result = await run(agent_of([search, count, note], *calls, **options), GO, thread)
    assert results(result) == {"c0": "found a", "c1": "2 notes", "c2": "2 documents"}
    assert (result["docs"], result["last"]) == (["a", "n"], "n")


async def test_a_tools_own_function_merges_in_place_of_the_keys(
    run: Any, options: Any, thread: Any
) -> None:
    @tool(outputs_to_state={"docs": {"source": "docs", "handler": replace_values}})
    def reset(word: str) -> dict[str, Any]:
        """Reset."""
        return {"docs": [word]}

    calls: list[Any] = [
        ("search", {"query": "a"}),
        ("reset", {"word": "r"}),
        ("search", {"query": "b"}),
    ]
    result = await run(agent_of([search, reset], *calls, **options), GO, thread)
    assert result["docs"] == ["r", "b"]


async def test_what_a_key_lacks_is_an_argument_left_out(
    run: Any, options: Any, thread: Any
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


async def test_the_model_cannot_forge_what_it_is_not_offered(run: Any) -> None:
    agent = agent_of([count], ("count", {"documents": ["x", "y"]}), state_schema=SCHEMA)
    assert results(await run(agent, {**GO, "docs": ["a"]})) == {"c0": "1 documents"}


async def test_what_the_model_is_offered_and_sends_goes_first(run: Any) -> None:
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


async def test_a_name_alone_takes_nothing_from_the_state(run: Any) -> None:
    @tool
    def plain(docs: str = "own") -> str:
        """Show."""
        return docs

    agent = agent_of([plain], ("plain", {}), state_schema=SCHEMA)
    assert results(await run(agent, {**GO, "docs": ["a"]})) == {"c0": "own"}


async def test_a_tool_object_may_declare_by_attributes(run: Any) -> None:
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


async def test_a_tool_does_not_share_its_arguments_with_the_state(run: Any) -> None:
    @tool(inputs_from_state={"table": "table"})
    def spoil(table: dict[str, list[int]]) -> str:
        """Spoil."""
        table["a"].append(9)
        table["b"] = []
        return str(table)

    schema = {"table": {"type": dict[str, list[int]]}}
    agent = agent_of([spoil], ("spoil", {}), state_schema=schema)
    assert (await run(agent, {**GO, "table": {"a": [1]}}))["table"] == {"a": [1]}


async def test_a_merge_that_fails_ends_the_run(run: Any, options: Any, thread: Any) -> None:
    @tool(outputs_to_state={"docs": {}})
    def wrong() -> int:
        """Return what does not fit."""
        return 7

    # What the hook did is stored when the tool after it fails, and nothing of the tool.
    def see(_state: Any) -> Any:
        return {"last": "seen"}

    agent = agent_of([wrong], ("wrong", {}), hooks={"before_tool": [see]}, **options)
    with pytest.raises(InvalidUpdateError, match="Tool 'wrong' gave state key 'docs'"):
        await run(agent, GO, thread)
    if "checkpointer" in options:
        values = agent.get_state(thread).values
        assert (values["last"], values["messages"][-1].type) == ("seen", "ai")


async def test_a_failing_output_function_is_an_error_of_the_tool(run: Any) -> None:
    @tool(outputs_to_string={"handler": int}, outputs_to_state={"last": {}})
    def words() -> str:
        """Return words."""
        return "words"

    agent = agent_of([words], ("words", {}), state_schema=SCHEMA)
    result = await run(agent, GO)
    assert (results(result)["c0"].startswith("Tool 'words' failed"), "last" in result) == (
        True,
        False,
    )
    agent = agent_of([words], ("words", {}), state_schema=SCHEMA, on_tool_error="raise")
    with pytest.raises(ValueError, match="invalid literal"):
        await run(agent, GO)


async def test_content_as_it_stands_is_not_made_into_text(run: Any) -> None:
    content = ["see", {"type": "a provider's own block", "data": "x"}]

    @tool(outputs_to_string={"source": "shown", "raw_result": True})
    def draw() -> dict[str, Any]:
        """Draw."""
        return {"shown": content, "path": "picture.png"}

    result = await run(agent_of([draw], ("draw", {}), state_schema=SCHEMA), GO)
    assert result["messages"][2].content == content


def test_state_keys_of_tools_are_checked_when_the_agent_is_built() -> None:
    @tool(inputs_from_state={"dcs": "documents"})
    def typo(documents: list[str]) -> str:
        """Count."""
        return str(documents)

    with pytest.raises(ToolDefinitionError, match=r"'typo'.*'dcs'.*Did you mean 'docs'\?"):
        agent_of([typo], ("typo", {}), state_schema=SCHEMA)


def test_a_concurrency_limit_is_at_least_one() -> None:
    with pytest.raises(ConfigurationError, match="tool_concurrency_limit is 0"):
        agent_of([count], ("count", {}), state_schema=SCHEMA, tool_concurrency_limit=0)


async def test_a_limit_of_one_runs_calls_one_by_one(run: Any) -> None:
    running, most = [0], [0]
    lock = threading.Lock()

    @tool
    def watch(n: int) -> str:
        """Watch."""
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        with lock:
            running[0] -= 1
        return str(n)

    calls: list[Any] = [("watch", {"n": n}) for n in range(6)]
    result = await run(agent_of([watch], *calls, tool_concurrency_limit=1), GO)
    assert (most[0], list(results(result).values())) == (1, [str(n) for n in range(6)])


async def test_a_foreign_node_runs_the_same_tools(run: Any) -> None:
    class Shared(MessagesState):
        docs: Annotated[list[str], merge_lists]
        last: str

    @tool(outputs_to_state={"docs": {"handler": replace_values}, "last": {"source": "word"}})
    def reset(word: str) -> dict[str, Any]:
        """Reset."""
        return {"word": word}

    graph: Any = StateGraph(Shared)
    graph.add_node("tools", ToolNode([reset, count, note]))
    graph.add_edge(START, "tools")
    calls: list[Any] = [("reset", {"word": "r"}), ("count", {}), ("note", {"text": "n"})]
    result = await run(graph.compile(), {"messages": [ask(*calls)], "docs": ["a"]})
    assert (result["docs"], result["last"]) == ({"word": "r"}, "r")
    found = results(result)
    assert found["c1"] == "1 documents"
    assert "needs a State, which only an agent can give" in found["c2"]


@dataclass(frozen=True)
class Plan:
    """A reply of calls, and what is to become of it."""

    calls: tuple[tuple[str, str], ...]

    @property
    def docs(self) -> list[str]:
        """What calls leave behind, one by one in call order."""
        return [word for kind, word in self.calls if kind in {"search", "note"}]


plans = st.builds(
    Plan,
    st.lists(
        st.tuples(st.sampled_from(["search", "note", "count", "look"]), st.sampled_from("abc")),
        max_size=5,
    ).map(tuple),
)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(plans)
def test_the_state_is_that_of_calls_in_their_order(plan: Plan) -> None:
    @tool
    def look(state: Annotated[dict[str, Any], InjectedState]) -> str:
        """Look."""
        return str(len(state.get("docs", [])))

    args = {"search": "query", "note": "text"}
    calls = [(kind, {args[kind]: word} if kind in args else {}) for kind, word in plan.calls]
    outcomes: list[Any] = []
    for saver in (None, InMemorySaver()):
        agent = agent_of(
            [search, count, note, look], *calls, state_schema=SCHEMA, checkpointer=saver
        )
        result = agent.invoke({**GO, "docs": []}, {"configurable": {"thread_id": "t"}})
        outcomes.append((result["docs"], results(result), result["tool_call_counts"]))
    assert outcomes[0] == outcomes[1]
    assert sorted(outcomes[0][0]) == sorted(plan.docs)
    if "count" not in dict(plan.calls):
        assert outcomes[0][0] == plan.docs
