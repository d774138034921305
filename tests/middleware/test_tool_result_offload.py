from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore

from interlock.graph import create_agent
from interlock.middleware import (
    AlwaysOffload,
    FileSystemToolResultStore,
    NeverOffload,
    OffloadOverChars,
    ToolResultOffloadMiddleware,
)
from interlock.middleware.offloaded_result import OFFLOADED
from interlock.state.errors import ConfigurationError, StorageError
from interlock.state.history import last_results
from interlock.tools import ToolException, tool


@tool
def big(n: int) -> str:
    """Return much."""
    return f"{n}" * 100


@tool
def small(n: int) -> str:
    """Return little."""
    return f"{n}"


@tool
def failing(n: int) -> str:
    """Fail with many words."""
    raise ToolException(f"{n}" * 100)


@pytest.fixture
def store(tmp_path: Path) -> FileSystemToolResultStore:
    return FileSystemToolResultStore(tmp_path)


def over(threshold: int) -> dict[Any, Any]:
    return {"*": OffloadOverChars(threshold)}


def stored(folder: Path) -> int:
    return len(list(folder.rglob("*.txt")))


def results(messages: list[Any]) -> list[ToolMessage]:
    return [m for m in messages if isinstance(m, ToolMessage)]


async def test_model_reads_the_pointer_and_then_the_result(
    run: Any, scripted: Any, calling: Callable[..., AIMessage], store: Any
) -> None:
    def read(messages: list[Any]) -> AIMessage:
        [reference] = results(messages)[-1].response_metadata[OFFLOADED]
        return calling(("read_tool_result", {"reference": reference}), start=2)

    model = scripted(calling(("big", {"n": 7})), read, "done")
    middleware = ToolResultOffloadMiddleware(store, over(50), preview_chars=3)
    result = await run(create_agent(model, [big], middleware=[middleware]), {"messages": "go"})

    pointer, content = results(result["messages"])
    assert "text (100 characters)" in pointer.text
    assert "It begins: 777..." in pointer.text
    assert content.text == "7" * 100
    assert result["exit_reason"] == "text"


@pytest.mark.parametrize(
    ("strategies", "moved"),
    [
        ({"*": AlwaysOffload()}, ["big", "small"]),
        ({"*": AlwaysOffload(), "small": NeverOffload()}, ["big"]),
        ({("small", "other"): AlwaysOffload()}, ["small"]),
        ({"*": NeverOffload(), ("big", "small"): NeverOffload(), "big": AlwaysOffload()}, ["big"]),
        (over(100), []),
        (over(99), ["big"]),
        ({}, []),
    ],
)
async def test_policy_is_chosen_by_tool(  # the failing tool's result always stays
    run: Any, scripted: Any, calling: Any, store: Any, strategies: Any, moved: list[str]
) -> None:
    calls = calling(("big", {"n": 1}), ("small", {"n": 2}), ("failing", {"n": 3}))
    middleware = ToolResultOffloadMiddleware(store, strategies)
    agent = create_agent(scripted(calls, "ok"), [big, small, failing], middleware=[middleware])
    result = await run(agent, {"messages": "go"})

    found = [m.name for m in results(result["messages"]) if OFFLOADED in m.response_metadata]
    assert found == moved


async def test_results_of_parallel_calls_do_not_collide(
    run: Any, scripted: Any, calling: Any, store: Any
) -> None:
    calls = calling(("big", {"n": 1}), ("big", {"n": 2}))
    agent = create_agent(
        scripted(calls, "ok"),
        [big],
        middleware=[ToolResultOffloadMiddleware(store, over(0))],
        checkpointer=InMemorySaver(),
    )
    config = {"configurable": {"thread_id": "my thread/../x"}}
    result = await run(agent, {"messages": "go"}, config)

    references = [m.response_metadata[OFFLOADED][0] for m in results(result["messages"])]
    assert [store.read(r) for r in references] == ["1" * 100, "2" * 100]
    assert all(r.startswith("my-thread-..-x/0_big_c") for r in references)


async def test_agent_has_a_store_of_its_own(run: Any, scripted: Any, calling: Any) -> None:
    memory = InMemoryStore()
    agent = create_agent(
        scripted(calling(("big", {"n": 1})), "ok"),
        [big],
        middleware=[ToolResultOffloadMiddleware(offload_strategies=over(0))],
        store=memory,
    )
    await run(agent, {"messages": "go"})

    [item] = memory.search(("tool_results",))
    assert item.value == {"text": "1" * 100}


async def test_runs_with_stores_of_their_own_are_apart(
    scripted: Any, calling: Any, store: Any, tmp_path: Path
) -> None:
    first, second = (FileSystemToolResultStore(tmp_path / n) for n in "ab")
    agent = create_agent(
        scripted(calling(("big", {"n": 1})), "ok", calling(("big", {"n": 2})), "ok"),
        [big],
        middleware=[ToolResultOffloadMiddleware(store, over(0))],
        context_schema=dict,
    )
    for own in (first, second):
        await agent.ainvoke({"messages": "go"}, context={"tool_result_store": own})

    assert [stored(tmp_path / n) for n in "ab"] == [1, 1]
    assert stored(tmp_path) == 2


async def test_failing_store_costs_no_result(
    run: Any, scripted: Any, calling: Any, caplog: pytest.LogCaptureFixture
) -> None:
    class Full(FileSystemToolResultStore):
        def write(self, key: str, content: str | bytes) -> str:
            msg = f"no room for {len(content)} at {key}"
            raise StorageError(msg)

    agent = create_agent(
        scripted(calling(("big", {"n": 1})), "ok"),
        [big],
        middleware=[ToolResultOffloadMiddleware(Full("."), over(0))],
    )
    with caplog.at_level(logging.WARNING):
        result = await run(agent, {"messages": "go"})

    assert results(result["messages"])[0].text == "1" * 100
    assert "no room for 100" in caplog.text


async def test_two_of_them_move_a_result_once(
    run: Any, scripted: Any, calling: Any, store: Any, tmp_path: Path
) -> None:
    both = [ToolResultOffloadMiddleware(store, over(0), reader=n == 0) for n in range(2)]
    agent = create_agent(scripted(calling(("big", {"n": 1})), "ok"), [big], middleware=both)
    result = await run(agent, {"messages": "go"})

    assert stored(tmp_path) == 1
    assert len(results(result["messages"])[0].response_metadata[OFFLOADED]) == 1


def test_only_results_after_the_last_reply_are_new() -> None:
    old, new = (ToolMessage(t, tool_call_id="c") for t in ("old", "new"))
    note = HumanMessage("from a tool")

    assert last_results([AIMessage("a"), old, AIMessage("b"), new, note]) == [new]
    assert last_results([AIMessage("a"), old, AIMessage("b")]) == []


def test_reader_can_be_left_out(store: Any) -> None:
    assert [t.name for t in ToolResultOffloadMiddleware(store).tools] == ["read_tool_result"]
    assert ToolResultOffloadMiddleware(store, reader=False).tools == []


@pytest.mark.parametrize(
    "settings",
    [
        {"store": "folder"},
        {"preview_chars": -1},
        {"max_read_chars": 0},
        {"offload_strategies": {"*": "always"}},
        {"offload_strategies": {"": AlwaysOffload()}},
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        ToolResultOffloadMiddleware(**settings)
