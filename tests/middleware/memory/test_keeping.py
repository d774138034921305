"""What a run keeps in memory: each message once, and nothing of a run that fails."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import AsyncSqliteStore
from langgraph.types import Command, interrupt

from interlock.graph import AgentGraph, create_agent
from interlock.middleware import (
    AgentMiddleware,
    MemoryMiddleware,
)
from interlock.state import ConfigurationError


async def test_a_thread_writes_each_message_once(
    run: Any, scripted: Any, store: BaseStore, texts: Any, remembering: Any
) -> None:
    agent = remembering(scripted("a", "b"), store, checkpointer=InMemorySaver())
    for text in "AB":
        await run(agent, {"messages": text}, "ann")
    assert sorted(texts(store, user_id="ann")) == ["A", "B", "a", "b"]


async def test_a_replayed_history_is_not_written_again(
    run: Any, scripted: Any, store: BaseStore, texts: Any, remembering: Any
) -> None:
    agent = remembering(scripted("a", "b"), store)
    result = await run(agent, {"messages": "A"}, "ann")
    assert len(result["messages"]) == 2
    history = [HumanMessage("A"), AIMessage("a"), HumanMessage("B")]
    await run(agent, {"messages": history}, "ann")
    assert sorted(texts(store, user_id="ann")) == ["A", "B", "a", "b"]


async def test_a_retry_after_a_failure_writes_nothing_twice(
    run: Any, scripted: Any, texts: Any
) -> None:
    class Fails(AgentMiddleware[Any, Any, Any]):
        failures = 1

        def after_agent(self, state: Any, runtime: Any) -> None:  # noqa: ARG002
            if self.failures:
                self.failures -= 1
                msg = "later"
                raise OSError(msg)

    store = InMemoryStore()
    # Hooks at the end run in the reverse order: memory first, then the one that fails.
    agent = create_agent(
        scripted("a"),
        middleware=[Fails(), MemoryMiddleware()],
        store=store,
        checkpointer=InMemorySaver(),
    )
    with pytest.raises(OSError, match="later"):
        await run(agent, {"messages": "A"}, "ann")
    await run(agent, None, "ann")
    assert sorted(texts(store, user_id="ann")) == ["A", "a"]


async def test_a_run_that_fails_keeps_nothing(
    run: Any, scripted: Any, texts: Any, remembering: Any
) -> None:
    store = InMemoryStore()
    with pytest.raises(OSError, match="down"):
        await run(remembering(scripted(OSError("down")), store), {"messages": "A"}, "ann")
    assert texts(store, user_id="ann") == []


async def test_a_resumed_run_has_its_notes_and_its_thread_does_not(
    run: Any, scripted: Any, calling: Any, store: BaseStore, texts: Any, prompts: Any
) -> None:
    saver = InMemorySaver()

    def ask() -> str:
        """Ask."""
        return str(interrupt("well?"))

    def agent(model: Any) -> AgentGraph:
        memory = MemoryMiddleware()
        return create_agent(model, [ask], middleware=[memory], store=store, checkpointer=saver)

    await run(agent(scripted("noted")), {"messages": "I like tea"}, "ann", "first")
    await run(agent(scripted(calling(("ask", {})))), {"messages": "tea?"}, "ann")
    thread: Any = {"configurable": {"thread_id": "t"}}
    (asked,) = agent(scripted("x")).get_state(thread).interrupts
    held = [saver.storage["t"], *(v for k, v in saver.writes.items() if k[0] == "t")]
    assert b"I like tea" not in repr(held).encode()
    assert b"memory_beginning" in repr(held).encode()
    model = scripted("done")
    await run(agent(model), Command(resume={asked.id: "yes"}), "ann")
    assert '"I like tea"' in prompts(model)[0]
    assert "yes" not in texts(store, user_id="ann")


@pytest.mark.parametrize("kind", ["function", "coroutine", "runnable"])
async def test_an_extractor_may_be_any_callable(
    scripted: Any, store: BaseStore, kind: str, texts: Any, remembering: Any
) -> None:
    def plain(messages: Any) -> list[str]:
        return [f"said {m.text}" for m in messages]

    async def waiting(messages: Any) -> list[str]:
        return plain(messages)

    extract: Any = {"function": plain, "coroutine": waiting, "runnable": RunnableLambda(plain)}[
        kind
    ]
    agent = remembering(scripted("a"), store, extract=extract)
    context: Any = {"user_id": "ann"}
    await agent.ainvoke({"messages": "A"}, context=context)
    assert sorted(texts(store, user_id="ann")) == ["said A", "said a"]


class Broken(InMemoryStore):
    def batch(self, ops: Any) -> Any:  # noqa: ARG002
        msg = "no connection"
        raise OSError(msg)

    async def abatch(self, ops: Any) -> Any:
        return self.batch(ops)


async def test_without_its_store_a_run_goes_on_unless_told_otherwise(
    run: Any, scripted: Any, caplog: pytest.LogCaptureFixture, remembering: Any
) -> None:
    with caplog.at_level(logging.WARNING):
        result = await run(remembering(scripted("a"), Broken()), {"messages": "A"}, "ann")
    assert result["exit_reason"] == "text"
    assert caplog.text.count("no connection") == 2
    strict = remembering(scripted("a"), Broken(), raise_on_failure=True)
    with pytest.raises(OSError, match="no connection"):
        await run(strict, {"messages": "A"}, "ann")


async def test_an_agent_without_a_store_says_so(run: Any, scripted: Any, remembering: Any) -> None:
    with pytest.raises(ConfigurationError, match="store="):
        await run(remembering(scripted("x"), None), {"messages": "go"}, "ann")


async def test_a_message_without_words_is_no_query(
    run: Any, scripted: Any, texts: Any, prompts: Any, remembering: Any
) -> None:
    model = scripted("a")
    store = InMemoryStore()
    await run(remembering(model, store), {"messages": []}, "ann")
    assert prompts(model) == [""]
    assert texts(store, user_id="ann") == ["a"]


async def test_a_store_of_asynchronous_calls_only_serves_asynchronous_runs(
    scripted: Any, prompts: Any, remembering: Any
) -> None:
    model = scripted("noted", "tea")
    async with AsyncSqliteStore.from_conn_string(":memory:") as store:
        await store.setup()
        agent = remembering(model, store, raise_on_failure=True)
        for text in ("I like tea", "What do I like?"):
            await agent.ainvoke({"messages": text}, context={"user_id": "ann"})
    assert '"I like tea"' in prompts(model)[1]
