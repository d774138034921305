"""Which hooks can be registered, at which points, and in which form they are called."""

from __future__ import annotations

import asyncio
import threading
from functools import partial
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from interlock.graph import create_agent
from interlock.middleware import AgentMiddleware, hook
from interlock.state import ConfigurationError, State, WouldBlockError


def test_an_unknown_point_is_refused(scripted: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"'before_lunch'.*before_llm"):
        create_agent(scripted("x"), [], hooks={"before_lunch": []})


@pytest.mark.parametrize("hook", [7, "name", object()])
def test_what_is_no_hook_is_refused(scripted: Any, hook: Any) -> None:
    with pytest.raises(ConfigurationError, match="no hook"):
        create_agent(scripted("x"), [], hooks={"on_exit": [hook]})


def test_a_hook_may_say_where_it_belongs(scripted: Any) -> None:
    class OnlyTools:
        allowed_hook_points = ("before_tool",)

        def run(self, state: Any) -> None:
            """Do nothing."""

    create_agent(scripted("x"), [], hooks={"before_tool": [OnlyTools()]})
    with pytest.raises(ConfigurationError, match=r"'OnlyTools'.*'before_tool'.*'on_exit'"):
        create_agent(scripted("x"), [], hooks={"on_exit": [OnlyTools()]})


def test_a_hook_that_asks_for_too_much_is_refused(scripted: Any) -> None:
    def greedy(state: Any, runtime: Any, more: Any) -> None:
        """Do nothing."""

    with pytest.raises(ConfigurationError, match="more"):
        create_agent(scripted("x"), [], hooks={"on_exit": [greedy]})


async def test_one_hook_serves_several_points(run: Any, scripted: Any) -> None:
    seen: list[int] = []

    @hook
    def count(state: State) -> None:
        seen.append(len(state["messages"]))

    agent = create_agent(scripted("done"), [], hooks={"before_llm": [count], "after_run": [count]})
    await run(agent, {"messages": "go"})
    assert seen == [1, 2]


async def test_an_asynchronous_run_prefers_the_asynchronous_form(scripted: Any) -> None:
    threads: list[Any] = []

    class Both:
        def run(self, state: State) -> None:  # noqa: ARG002
            threads.append("sync")

        async def run_async(self, state: State) -> None:  # noqa: ARG002
            threads.append("async")

    def only_sync(_state: Any) -> None:
        threads.append(threading.current_thread() is threading.main_thread())

    agent = create_agent(scripted("done"), [], hooks={"before_run": [Both(), only_sync]})
    await agent.ainvoke({"messages": "go"})
    agent.invoke({"messages": "go"})
    assert threads == ["async", False, "sync", True]


def test_what_only_an_event_loop_can_do_is_named_in_a_synchronous_run(scripted: Any) -> None:
    @hook
    async def waits(state: State) -> None:  # noqa: ARG001
        await asyncio.sleep(0)

    agent = create_agent(scripted("done"), [], hooks={"before_run": [waits]})
    with pytest.raises(WouldBlockError, match=r"waits\.before_run.*ainvoke"):
        agent.invoke({"messages": "go"})


@pytest.mark.parametrize(
    ("hooks", "why"),
    [
        ({"before_lm": []}, r"Did you mean 'before_llm'\?"),
        ({"before_llm": print}, "give a list of hooks"),
        ({"before_llm": "hook"}, "give a list of hooks"),
        ({"before_llm": [AgentMiddleware]}, "a class; give an instance"),
        ({"before_llm": [{"runn": 1}]}, "is no hook"),
    ],
    ids=range(5),
)
def test_hooks_that_cannot_be_registered_are_named(scripted: Any, hooks: Any, why: str) -> None:
    with pytest.raises(ConfigurationError, match=why):
        create_agent(scripted("x"), [], hooks=hooks)


def test_a_method_with_another_name_is_suggested(scripted: Any) -> None:
    class Misspelt:
        def runn(self, state: State) -> None:
            """Do nothing."""

    with pytest.raises(ConfigurationError, match=r"no hook.*Did you mean 'runn'\?"):
        create_agent(scripted("x"), [], hooks={"on_exit": [Misspelt()]})


@pytest.mark.parametrize("allowed", ["before_tool", "before_tools"])
@pytest.mark.parametrize("point", ["before_tool", "before_tools"])
def test_both_names_of_a_point_are_one_place(scripted: Any, allowed: str, point: str) -> None:
    @hook(allowed_hook_points=[allowed])
    def only_tools(state: State) -> None:
        """Do nothing."""

    create_agent(scripted("x"), [], hooks={point: [only_tools]})


async def test_a_state_of_the_programs_own_is_given_as_a_dict(run: Any, scripted: Any) -> None:
    seen: list[Any] = []

    class Theirs(AgentMiddleware):
        def before_model(self, state: Any, runtime: Any) -> None:  # noqa: ARG002
            seen.append(type(state))

    Theirs.before_model.__annotations__["state"] = "theirs.State"
    await run(create_agent(scripted("x"), [], middleware=[Theirs()]), {"messages": "go"})
    assert seen == [dict]


async def test_an_object_may_say_that_it_pauses(run: Any, scripted: Any) -> None:
    runs: list[str] = []

    class Asking:
        interrupts = True

        def run(self, state: State) -> None:
            runs.append("asks")
            state.set("messages", [HumanMessage(interrupt("?"))])

    def before(_state: Any) -> None:
        runs.append("before")

    hooks = {"before_run": [before, Asking()]}
    agent = create_agent(scripted("x"), [], hooks=hooks, checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "t"}}
    await run(agent, {"messages": "go"}, config)
    result = await run(agent, Command(resume="yes"), config)
    assert (runs, result["messages"][1].text) == (["before", "asks", "asks"], "yes")


async def test_a_run_method_may_be_asynchronous(run: Any, scripted: Any) -> None:
    class Waiting:
        async def run(self, state: State) -> None:
            state.set("messages", [HumanMessage("noted")])

    agent = create_agent(scripted("x"), [], hooks={"after_run": [Waiting()]})
    result = await run(agent, {"messages": "go"})
    assert result["messages"][-1].text == "noted"


async def test_partials_and_callable_objects_are_hooks(run: Any, scripted: Any) -> None:
    seen: list[str] = []

    class Asynchronous:
        async def __call__(self, state: Any) -> None:  # noqa: ARG002
            seen.append("object")

    def named(word: str, _state: Any) -> None:
        seen.append(word)

    hooks = {"before_run": [partial(named, "partial"), Asynchronous()]}
    await run(create_agent(scripted("x"), [], hooks=hooks), {"messages": "go"})
    assert seen == ["partial", "object"]
