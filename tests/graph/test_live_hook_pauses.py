"""Hooks over the live state that pause or fail: nothing they had set is left behind."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from interlock.graph import create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import hook
from interlock.state import InvalidUpdateError, State, replace_values
from interlock.tools import tool

SCHEMA: dict[str, Any] = {"log": {"type": list[str]}, "last": {"type": str}}


@tool
def work(query: str) -> str:
    """Work."""
    return f"did {query}"


def two_steps() -> ScriptedChatModel:
    ask = {"name": "work", "args": {"query": "a"}, "id": "c1", "type": "tool_call"}
    return ScriptedChatModel([AIMessage("", tool_calls=[ask]), "done"])


def agent_with(hooks: Any, **options: Any) -> Any:
    model = options.pop("model", None) or two_steps()
    return create_agent(model, [work], hooks=hooks, state_schema=SCHEMA, **options)


async def test_a_pause_takes_back_what_its_hook_had_set(run: Any, thread: Any) -> None:
    runs: list[str] = []

    @hook
    def before(state: State) -> None:
        runs.append("before")
        state.set("log", "before")

    @hook(interrupts=True)
    def pausing(state: State) -> None:
        runs.append("pausing")
        state.set("log", "half")
        state.set("last", "half")
        state.set("log", interrupt("?"))

    agent = agent_with({"before_llm": [before, pausing]}, checkpointer=InMemorySaver())
    for _ in range(2):
        await run(agent, {"messages": "go"} if not runs else Command(resume="yes"), thread)
        assert agent.get_state(thread).values["log"][-1] == "before"
    result = await run(agent, Command(resume="sure"), thread)
    assert result["log"] == ["before", "half", "yes", "before", "half", "sure"]
    assert runs == ["before", "pausing", "pausing", "before", "pausing", "pausing"]


async def test_a_failure_takes_back_what_its_hook_had_set(run: Any, thread: Any) -> None:
    failing = [True]

    @hook
    def before(state: State) -> None:
        state.set("log", "before")

    @hook
    def fragile(state: State) -> Any:
        state.set("log", "half")
        state.set("stop_run", "never")
        if failing.pop():
            return {"undeclared": 1}
        failing.append(False)
        state.set("stop_run", None)
        return None

    agent = agent_with({"before_llm": [before, fragile]}, checkpointer=InMemorySaver())
    with pytest.raises(InvalidUpdateError, match="undeclared"):
        await run(agent, {"messages": "go"}, thread)
    assert agent.get_state(thread).values["log"] == ["before"]
    failing.append(False)
    result = await run(agent, None, thread)
    assert (result["log"], result["exit_reason"]) == (["before", "half"] * 2, "text")


Way = Literal["live", "returned"]
Act = Literal["set", "pause", "fail", "override", "look"]
POINTS = ("before_run", "before_llm", "before_tool", "after_tool", "on_exit", "after_run")


def stack_of(way: Way, acts: list[tuple[str, Act]], world: dict[str, int]) -> dict[str, list[Any]]:
    """The same hooks twice: over the live state, and returning what they change."""

    def make(name: str, act: Act) -> Any:
        def change(state: State) -> dict[str, Any]:
            answer = str(interrupt(name)) if act == "pause" else ""
            world[name] = world.get(name, 0) + 1
            if act == "fail" and world[name] == 1:
                raise RuntimeError(name)
            if act == "look":
                return {}
            log = [f"{name}{answer}@{len(state.get('log') or [])}"]
            return {"log": log, "last": name, "messages": [HumanMessage(name, id=name)]}

        @hook
        def live(state: State) -> None:
            if act == "pause":
                state.set("log", "half")
                state.set("log", state["log"][:-1], handler_override=replace_values)
            for key, value in change(state).items():
                state.set(key, value)

        def returned(state: Any) -> Any:
            return change(state)

        return live if way == "live" else returned

    hooks: dict[str, list[Any]] = {}
    for number, (point, act) in enumerate(acts):
        hooks.setdefault(point, []).append(make(f"{point}-{number}", act))
    return hooks


def play(way: Way, acts: list[tuple[str, Act]], durable: bool) -> tuple[Any, ...]:
    """Run to the end, through every pause and failure; what came out."""
    world: dict[str, int] = {}
    saver = InMemorySaver() if durable else None
    agent = agent_with(stack_of(way, acts, world), checkpointer=saver)
    config = {"configurable": {"thread_id": "t"}}
    value: Any = {"messages": [HumanMessage("go", id="go")], "log": []}
    result: Any = {}
    for _ in range(40):
        try:
            result = agent.invoke(value, config)
        except RuntimeError:
            value = None
            continue
        if "__interrupt__" not in result:
            break
        value = Command(resume="!")
    messages = [(m.type, m.text) for m in result["messages"]]
    return result["log"], result.get("last"), messages, result["exit_reason"], world


acts_at_points = st.lists(
    st.tuples(st.sampled_from(POINTS), st.sampled_from(["set", "pause", "fail", "look"])),
    max_size=4,
)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(acts_at_points)
def test_pauses_failures_and_styles_make_no_difference(acts: list[tuple[str, Any]]) -> None:
    live = play("live", acts, durable=True)
    assert live == play("returned", acts, durable=True)
    smooth: Any = [(point, "set" if act in {"pause", "fail"} else act) for point, act in acts]
    log, last, messages, reason, _ = live
    expected = play("live", smooth, durable=False)
    assert ([line.replace("!", "") for line in log], last, messages, reason) == expected[:4]
