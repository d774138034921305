"""What tests of memory share: stores, agents that remember, and what is kept and shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langchain_core.messages import SystemMessage
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore

from interlock.graph import AgentGraph, create_agent
from interlock.middleware import MemoryMiddleware, MemoryScope, memory_namespace


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest) -> Iterator[BaseStore]:
    """A store of each kind; that of SQLite is synchronous only."""
    if request.param == "memory":
        yield InMemoryStore()
        return
    with SqliteStore.from_conn_string(":memory:") as made:
        made.setup()
        yield made


@pytest.fixture(params=["invoke", "ainvoke"])
def run(request: pytest.FixtureRequest) -> Any:
    """``await run(agent, input, user, ...)``: a run for a user, in each mode."""

    async def go(agent: AgentGraph, value: Any, context: Any = None, thread: str = "t") -> Any:
        given = {"user_id": context} if isinstance(context, str) else context
        config: Any = {"configurable": {"thread_id": thread}}
        if request.param == "invoke":
            return agent.invoke(value, config, context=given)
        return await agent.ainvoke(value, config, context=given)

    return go


@pytest.fixture
def texts() -> Callable[..., list[str]]:
    """``texts(store, user_id="ann")``: what is kept for a user, oldest first."""

    def find(store: BaseStore, **ids: str) -> list[str]:
        items = store.search(memory_namespace(MemoryScope(**ids)), limit=100)
        return [item.value["text"] for item in sorted(items, key=lambda i: i.created_at)]

    return find


@pytest.fixture
def prompts() -> Callable[[Any], list[str]]:
    """``prompts(model)``: the system message of each call, and none twice."""

    def find(model: Any) -> list[str]:
        for request in model.requests:
            assert all(not isinstance(m, SystemMessage) for m in request[1:])
        heads = [request[:1] for request in model.requests]
        return [h[0].text if h and isinstance(h[0], SystemMessage) else "" for h in heads]

    return find


@pytest.fixture
def remembering() -> Callable[..., AgentGraph]:
    """``remembering(model, store, middleware, ..., **settings)``: an agent with a memory."""

    def make(model: Any, store: BaseStore | None, *more: Any, **settings: Any) -> AgentGraph:
        options = {k: settings.pop(k) for k in ("checkpointer", "system_prompt") if k in settings}
        memory = MemoryMiddleware(**settings)
        return create_agent(model, middleware=[memory, *more], store=store, **options)

    return make
