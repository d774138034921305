"""Tools that give to the state and take from it, in whole runs: in which order, and in which form."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

from interlock.state import (
    ConfigurationError,
    InvalidUpdateError,
    State,
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


@pytest.fixture
def options(stored: dict[str, Any]) -> dict[str, Any]:
    return {"state_schema": SCHEMA, **stored}


GO = {"messages": "go"}


async def test_parts_of_a_result_reach_the_state_and_the_rest_the_model(
    run: Any, options: Any, thread: Any, agent_of: Any, results: Any
) -> None:
    agent = agent_of([search], ("search", {"query": "ab"}), ("search", {"query": "c"}), **options)
    result = await run(agent, GO, thread)
    assert results(result) == {"c0": "found ab", "c1": "found c"}
    assert (result["docs"], result["total"]) == (["ab", "c"], 3)


@pytest.mark.parametrize("first", ["search", "count"])
async def test_a_reader_runs_after_the_writers_of_its_reply(
    run: Any, options: Any, thread: Any, first: str, agent_of: Any, results: Any
) -> None:
    calls: list[Any] = [("search", {"query": "a"}), ("count", {}), ("search", {"query": "b"})]
    calls = calls if first == "search" else [calls[1], calls[0], calls[2]]
    result = await run(agent_of([search, count], *calls, **options), GO, thread)
    assert results(result)["c1" if first == "search" else "c0"] == "2 documents"
    assert list(results(result)) == ["c0", "c1", "c2"]


async def test_what_is_faster_changes_no_result(
    run: Any, options: Any, thread: Any, agent_of: Any, results: Any
) -> None:
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
    run: Any, options: Any, thread: Any, agent_of: Any
) -> None:
    calls: list[Any] = [("count", {}), ("search", {"query": "a"})]
    exits = {"exit_conditions": ["search", "count"]}
    result = await run(agent_of([search, count], *calls, **options, **exits), GO, thread)
    assert result["exit_reason"] == "count"


async def test_the_live_state_sees_and_is_seen(
    run: Any, options: Any, thread: Any, agent_of: Any, results: Any
) -> None:
    calls: list[Any] = [("search", {"query": "a"}), ("note", {"text": "n"}), ("count", {})]
    result = await run(agent_of([search, count, note], *calls, **options), GO, thread)
    assert results(result) == {"c0": "found a", "c1": "2 notes", "c2": "2 documents"}
    assert (result["docs"], result["last"]) == (["a", "n"], "n")


async def test_a_tools_own_function_merges_in_place_of_the_keys(
    run: Any, options: Any, thread: Any, agent_of: Any
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


async def test_a_merge_that_fails_ends_the_run(
    run: Any, options: Any, thread: Any, agent_of: Any
) -> None:
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


async def test_a_failing_output_function_is_an_error_of_the_tool(
    run: Any, agent_of: Any, results: Any
) -> None:
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


async def test_content_as_it_stands_is_not_made_into_text(run: Any, agent_of: Any) -> None:
    content = ["see", {"type": "a provider's own block", "data": "x"}]

    @tool(outputs_to_string={"source": "shown", "raw_result": True})
    def draw() -> dict[str, Any]:
        """Draw."""
        return {"shown": content, "path": "picture.png"}

    result = await run(agent_of([draw], ("draw", {}), state_schema=SCHEMA), GO)
    assert result["messages"][2].content == content


def test_a_concurrency_limit_is_at_least_one(agent_of: Any) -> None:
    with pytest.raises(ConfigurationError, match="tool_concurrency_limit is 0"):
        agent_of([count], ("count", {}), state_schema=SCHEMA, tool_concurrency_limit=0)


async def test_a_limit_of_one_runs_calls_one_by_one(run: Any, agent_of: Any, results: Any) -> None:
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


async def test_a_foreign_node_runs_the_same_tools(run: Any, results: Any, calling: Any) -> None:
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
    result = await run(graph.compile(), {"messages": [calling(*calls, start=0)], "docs": ["a"]})
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
@given(plan=plans)
def test_the_state_is_that_of_calls_in_their_order(plan: Plan, agent_of: Any, results: Any) -> None:
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
