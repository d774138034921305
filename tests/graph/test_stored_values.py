"""A stored thread whose values have another form: a clear error, and nothing is lost."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from interlock.graph import AgentGraph, create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import (
    ApprovalMiddleware,
    AskOncePolicy,
    HumanInTheLoopMiddleware,
    HumanInTheLoopStrategy,
)
from interlock.state import StorageError
from interlock.tools import tool

Run = Callable[..., Awaitable[dict[str, Any]]]
YES = {"type": "approve"}


class Spoilt(InMemorySaver):
    """A store in which somebody has put other values under some keys."""

    def __init__(self) -> None:
        super().__init__()
        self.values: dict[str, Any] = {}

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        saved = super().get_tuple(config)
        if saved is None or not self.values:
            return saved
        checkpoint = saved.checkpoint.copy()
        checkpoint["channel_values"] = {**checkpoint["channel_values"], **self.values}
        return saved._replace(checkpoint=checkpoint)


@pytest.fixture
def store() -> Spoilt:
    return Spoilt()


@pytest.fixture
def paused(calling: Callable[..., AIMessage], store: Spoilt, thread: Any) -> Any:
    """``paused(middleware, **settings)``: an agent that waits for an approval, and what its tool did."""

    def begin(middleware: Any, **settings: Any) -> tuple[AgentGraph, list[str]]:
        did: list[str] = []

        @tool
        def send(to: str) -> str:
            """Send a letter."""
            did.append(to)
            return "sent"

        agent = create_agent(
            ScriptedChatModel([calling(("send", {"to": "a"})), "done"]),
            [send],
            middleware=[middleware],
            checkpointer=store,
            **settings,
        )
        agent.invoke({"messages": "go"}, thread)
        return agent, did

    return begin


MODES = ["batched", "per_call"]
VALUES: list[tuple[str, Any]] = [
    ("run_options", 5),
    ("run_options", {"tools": ["send"]}),
    ("run_options", {"system": "text"}),
    ("run_options", {"settings": 5}),
    ("run_options", {"no_such_option": 5}),
    ("run_ledger", 5),
    ("run_ledger", {"cursor": ["nowhere", 0]}),
    ("run_ledger", {"no_such_counter": 5}),
    ("for_parent", 5),
    ("for_parent", [{"tool": "send"}]),
    ("hitl_reviews", 5),
    ("hitl_reviews", {"c1": {"ask": False}}),
    ("messages", 5),
    ("messages", [5]),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("key", "value"), VALUES, ids=range(len(VALUES)))
async def test_an_answer_to_a_spoilt_thread_is_refused_and_given_again_when_it_is_right(
    run: Run, paused: Any, store: Spoilt, thread: Any, key: str, value: Any, mode: Any
) -> None:
    agent, did = paused(HumanInTheLoopMiddleware({"send": True}, interrupt_mode=mode))
    store.values[key] = value
    answer: Command[Any] = Command(resume=YES if mode == "per_call" else {"decisions": [YES]})
    with pytest.raises(StorageError, match=f"'{key}'"):
        await run(agent, answer, thread)
    store.values.clear()
    assert did == []
    assert [p.id for p in agent.pending(thread)] == ["c1"]
    assert (await run(agent, answer, thread))["messages"][-1].text == "done"
    assert did == ["a"]


async def test_edited_calls_of_another_form_run_nothing_until_they_are_right(
    run: Run, paused: Any, store: Spoilt, thread: Any
) -> None:
    agent, did = paused(HumanInTheLoopMiddleware({"send": True}))
    store.values["hitl_edited_tool_calls"] = {"c1": {"name": "send"}}
    with pytest.raises(StorageError, match=r"'hitl_edited_tool_calls'.*'c1'"):
        await run(agent, Command(resume={"decisions": [YES]}), thread)
    store.values.clear()
    assert did == []
    await run(agent, None, thread)
    assert did == ["a"]


async def test_confirmed_calls_of_another_form_are_refused(
    run: Run, paused: Any, store: Spoilt, thread: Any
) -> None:
    strategy = HumanInTheLoopStrategy(confirmation_policy=AskOncePolicy())
    agent, did = paused(ApprovalMiddleware({"send": strategy}))
    store.values["hitl_confirmed_approvalmiddleware"] = {"x": "yesterday"}
    with pytest.raises(StorageError, match="'hitl_confirmed_approvalmiddleware'"):
        await run(agent, Command(resume={"decisions": [YES]}), thread)
    assert did == []


@pytest.mark.parametrize("key", ["run_options", "run_ledger", "for_parent"])
async def test_a_new_input_takes_the_place_of_what_was_kept_of_a_run(
    run: Run, paused: Any, store: Spoilt, thread: Any, key: str
) -> None:
    agent, _ = paused(HumanInTheLoopMiddleware({"send": True}))
    store.values[key] = 5
    result = await run(agent, {"messages": "anew"}, thread)
    assert result["messages"][-1].text == "done"


@pytest.mark.parametrize("storage", ["delta", "full"])
async def test_messages_of_another_form_are_refused_in_both_ways_of_storing_them(
    run: Run, paused: Any, store: Spoilt, thread: Any, storage: Any
) -> None:
    agent, _ = paused(HumanInTheLoopMiddleware({"send": True}), message_storage=storage)
    store.values["messages"] = [{"role": "user"}]
    with pytest.raises(StorageError, match="'messages'"):
        await run(agent, {"messages": "anew"}, thread)
    store.values.clear()
    assert [m.text for m in agent.get_state(thread).values["messages"]] == ["go", ""]
