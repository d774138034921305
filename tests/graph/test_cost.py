"""What a turn costs in supersteps, checkpoints and bytes, whatever stands around it."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver

from interlock.graph import create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import AgentMiddleware
from interlock.tools import tool


@tool
def work() -> str:
    """Work."""
    return "worked"


class Idle(AgentMiddleware):
    """Hooks everywhere, doing nothing."""

    def before_agent(self, state: Any, runtime: Any) -> None:
        """Do nothing."""

    def before_model(self, state: Any, runtime: Any) -> None:
        """Do nothing."""

    def after_model(self, state: Any, runtime: Any) -> None:
        """Do nothing."""

    def before_tools(self, state: Any, runtime: Any) -> None:
        """Do nothing."""

    def after_tools(self, state: Any, runtime: Any) -> None:
        """Do nothing."""


def calls(turn: int, width: int = 1) -> AIMessage:
    made: Any = [
        {"name": "work", "args": {}, "id": f"c{turn}.{n}", "type": "tool_call"}
        for n in range(width)
    ]
    return AIMessage("", tool_calls=made, id=f"a{turn}")


def build(turns: int, middlewares: int, saver: Any, width: int = 1) -> Any:
    model = ScriptedChatModel(
        [*(calls(n, width) for n in range(turns)), AIMessage("done", id="end")]
    )
    idle = [Idle() for _ in range(middlewares)]
    return create_agent(model, [work], middleware=idle, checkpointer=saver)


def stored(saver: InMemorySaver) -> tuple[int, int]:
    """Checkpoints and stored bytes of a thread."""
    checkpoints = sum(len(c) for ns in saver.storage.values() for c in ns.values())
    blobs = sum(len(data) for _, data in saver.blobs.values())
    writes = sum(len(v[2][1]) for w in saver.writes.values() for v in w.values())
    return checkpoints, blobs + writes


@pytest.mark.parametrize("width", [1, 3])
async def test_middleware_adds_no_superstep_and_no_byte(run: Any, thread: Any, width: int) -> None:
    costs: list[Any] = []
    for middlewares in (0, 12):
        saver = InMemorySaver()
        await run(build(4, middlewares, saver, width), {"messages": [("user", "go")]}, thread)
        costs.append(stored(saver))
    (few, small), (many, large) = costs
    assert few == many
    assert abs(large - small) < 64, "only ids of random length may differ"


@pytest.mark.parametrize("width", [1, 3])
async def test_a_turn_is_two_supersteps(run: Any, thread: Any, width: int) -> None:
    counts: list[int] = []
    for turns in (1, 5):
        saver = InMemorySaver()
        await run(build(turns, 3, saver, width), {"messages": "go"}, thread)
        counts.append(stored(saver)[0])
    assert counts[1] - counts[0] == 4 * 2


def test_storage_grows_with_the_thread_and_not_with_its_square(tmp_path: Path) -> None:
    sizes: list[int] = []
    for turns in (60, 120):
        path = tmp_path / f"{turns}.sqlite"
        with SqliteSaver.from_conn_string(str(path)) as saver:
            agent = create_agent(
                ScriptedChatModel(["yes"], repeat_last=True), [], checkpointer=saver
            )
            for turn in range(turns):
                config: Any = {"configurable": {"thread_id": "t"}}
                agent.invoke({"messages": [("user", f"question {turn}")]}, config)
        with sqlite3.connect(path) as database:
            database.execute("vacuum")
        sizes.append(path.stat().st_size)
    assert sizes[1] < 2.8 * sizes[0], sizes


@pytest.mark.parametrize("saver", [None, InMemorySaver()], ids=["not stored", "stored"])
def test_a_hook_that_may_pause_splits_a_step_only_where_it_is_stored(
    saver: Any, thread: Any
) -> None:
    class Pausing(AgentMiddleware):
        interrupts = True

        def after_model(self, state: Any, runtime: Any) -> None:
            """Ask nobody."""

    model = ScriptedChatModel([calls(0), "done"])
    agent = create_agent(model, [work], middleware=[Pausing()], checkpointer=saver)
    steps = [*agent.stream({"messages": "go"}, thread, stream_mode="updates")]
    assert [*map(str, (node for step in steps for node in step))].count("model") == (
        4 if saver else 2
    )
