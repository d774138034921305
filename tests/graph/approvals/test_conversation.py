"""What was said in a thread, read without its agent."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from interlock.graph.approvals import open_threads, read_conversation

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
