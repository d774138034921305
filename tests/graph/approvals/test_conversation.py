"""What was said in a thread, read without its agent."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.sqlite import SqliteSaver

from interlock.graph.approvals import open_threads, read_conversation
from interlock.state import StorageError

Calling = Callable[..., AIMessage]
GO: dict[str, Any] = {"messages": [HumanMessage("go")]}


@pytest.mark.parametrize("storage", ["delta", "full"])
def test_conversation_is_what_the_agent_knows(
    store: Any, office: Any, calling: Calling, storage: str
) -> None:
    thread: Any = {"configurable": {"thread_id": str(uuid.uuid4())}}
    with store() as saver:
        agent = office.agent(
            "hello",
            calling(("ask", {"question": "red?"}), ("send", {"to": "b"}), text="I send it"),
            checkpointer=saver,
            message_storage=storage,
        )
        agent.invoke(GO, thread)
        agent.invoke(GO, thread)
        known = agent.get_state(thread).values["messages"]

    database = open_threads(store.database)
    read = read_conversation(database, thread["configurable"]["thread_id"])
    assert (list(read.messages), read.earlier) == (known, 0)
    assert [m.type for m in known] == ["human", "ai", "human", "ai"]
    end = read_conversation(database, thread["configurable"]["thread_id"], last=1)
    assert (list(end.messages), end.earlier) == (known[-1:], 3)


def test_thread_that_nobody_knows_has_no_conversation(store: Any) -> None:
    with store():
        pass
    assert read_conversation(open_threads(store.database), "nobody").messages == []


@pytest.mark.parametrize("value", ["substr(checkpoint, 1, 20)", "10000000000000", "x'c1'"])
def test_unreadable_checkpoint_is_told_with_its_thread(
    tmp_path: Path, office: Any, calling: Calling, value: str
) -> None:
    path = str(tmp_path / "threads.sqlite")
    thread: Any = {"configurable": {"thread_id": "bad"}}
    with SqliteSaver.from_conn_string(path) as saver:
        office.agent(calling(("send", {"to": "a"})), checkpointer=saver).invoke(GO, thread)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"UPDATE checkpoints SET checkpoint = {value}")  # noqa: S608 - a test's own
    with pytest.raises(StorageError, match="thread 'bad' cannot be read"):
        read_conversation(open_threads(path), "bad")
