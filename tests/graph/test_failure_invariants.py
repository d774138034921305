"""What holds for every run in which something fails, whatever the ``on_error`` hooks do."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from interlock.graph import AgentGraph, create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import AgentMiddleware
from interlock.middleware.collect import HOOK_POINTS
from interlock.tools import tool

THREAD: Any = {"configurable": {"thread_id": "t"}}
GO: Any = {"messages": [HumanMessage("go", id="go")]}
POINTS = [point for point in HOOK_POINTS if point != "on_error"]
LIMIT = 4

quick = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])

Hooks = list[tuple[str, str, int]]
"""Point, what is done there, and how often."""


def stacks(points: Sequence[str], acts: Sequence[str], size: int) -> st.SearchStrategy[Hooks]:
    one = st.tuples(st.sampled_from(points), st.sampled_from(acts), st.integers(1, 2))
    return st.lists(one, max_size=size)


hooks = stacks(POINTS, ["fail", "fail", "say", "model", "end"], 4)
answers = stacks(["on_error"], ["say", "model", "end", "fail", "nothing"], 3)
scripts = st.lists(st.sampled_from(["text", "fine", "boom", "both", "several", "down"]), max_size=4)

CALLS = {
    "fine": ["fine"], "boom": ["boom"], "both": ["boom", "fine"], "several": ["fine", "boom", "boom"],
}  # fmt: skip


def said(number: int, what: str) -> Any:
    """A reply of the model, or what it fails with."""
    if what == "down":
        return ConnectionError(f"down {number}")
    calls: Any = [
        {"name": name, "args": {"item": f"{number}.{n}"}, "id": f"c{number}-{n}"}
        for n, name in enumerate(CALLS.get(what, ()))
    ]
    return AIMessage("" if calls else what, tool_calls=calls)


class World:
    """A run that can be had again and again, and what was done in it."""

    def __init__(self, script: Sequence[str]) -> None:
        self.did: list[str] = []
        replies = [said(number, what) for number, what in enumerate(script)]
        self.model = ScriptedChatModel([*replies, "done"], repeat_last=True)

    def agent(self, stack: Sequence[Any], **options: Any) -> AgentGraph:
        @tool
        def fine(item: str) -> str:
            """Be fine."""
            self.did.append(f"fine {item}")
            return "fine"

        @tool
        def boom(item: str) -> str:
            """Fail."""
            self.did.append(f"boom {item}")
            raise OSError(item)

        options = {"max_agent_steps": LIMIT, "on_tool_error": "raise", **options}
        return create_agent(self.model, [fine, boom], middleware=stack, **options)

    def hook(self, position: int, point: str, act: str, times: int) -> Any:
        """A middleware that does something at a point, a number of times."""
        name = f"H{position}_{point}_{act}"
        left = [times]

        def do(*given: Any) -> Any:
            told = f" of {given[0]}" if point == "on_error" else ""
            self.did.append(f"{name}{told}")
            if not left[0] or act == "nothing":
                return None
            left[0] -= 1
            if act == "fail":
                msg = f"{name} {left[0]}"
                raise RuntimeError(msg)
            return {"messages": [HumanMessage(name)]} if act == "say" else {"jump_to": act}

        def at_error(_self: Any, error: Exception, state: Any) -> Any:
            return do(error, state)

        def elsewhere(_self: Any, state: Any) -> Any:
            return do(state)

        hook: Any = at_error if point == "on_error" else elsewhere
        return type(name, (AgentMiddleware,), {point: hook})()

    def stack(self, given: Hooks) -> list[Any]:
        return [self.hook(n, *one) for n, one in enumerate(given)]


def outcome(world: World, run: Callable[[], Any]) -> Any:
    """What a run came to, as values that can be compared: its result or what it raised."""
    try:
        result = run()
    except (RuntimeError, OSError) as error:
        return type(error).__name__, str(error), Counter(world.did)
    rows = [(m.type, m.text, getattr(m, "tool_call_id", None)) for m in result["messages"]]
    counts = [result.get(k) for k in ("exit_reason", "step_count", "tool_call_counts")]
    return rows, counts, Counter(world.did), world.model.calls


def to_the_end(agent: AgentGraph) -> Any:
    """The result of a run that goes on after each of its pauses."""
    value: Any = GO
    for _ in range(90):
        result = agent.invoke(value, THREAD)
        snapshot = agent.get_state(THREAD)
        if not snapshot.next:
            return result
        value = Command(resume={i.id: "go on" for i in snapshot.interrupts})
        if not snapshot.interrupts:
            value = None
    pytest.fail("the run does not end")


@given(script=scripts, before=hooks, told=answers)
@quick
def test_every_way_of_running_fails_or_answers_alike(
    script: list[str], before: Hooks, told: Hooks
) -> None:
    def end(run: Callable[[AgentGraph], Any], **options: Any) -> Any:
        world = World(script)
        agent = world.agent(world.stack([*before, *told]), **options)
        return outcome(world, lambda: run(agent))

    def last(agent: AgentGraph) -> Any:
        return list(agent.stream(GO, THREAD, stream_mode="values"))[-1]

    expected = end(lambda agent: agent.invoke(GO))
    assert end(lambda agent: asyncio.run(agent.ainvoke(GO))) == expected
    assert end(last) == expected
    assert end(last, checkpointer=InMemorySaver()) == expected
    assert end(lambda agent: agent.invoke(GO, THREAD), checkpointer=InMemorySaver()) == expected
    if isinstance(expected[0], list):
        options: Any = {"interrupt_before": ["model", "tools"], "checkpointer": InMemorySaver()}
        assert end(to_the_end, **options) == expected


class Pauses(AgentMiddleware[Any, Any, Any]):
    """Pauses the run each time it is told of a failure."""

    def __init__(self, *, interrupts: bool) -> None:
        self.interrupts = interrupts

    def on_error(self, error: Exception, state: Any, runtime: Any) -> None:  # noqa: ARG002
        interrupt(str(error))


@given(
    script=scripts,
    before=hooks,
    told=answers,
    declared=st.tuples(st.booleans(), st.booleans()),
    place=st.integers(0, 3),
)
@quick
def test_a_run_that_pauses_in_its_error_hooks_ends_like_one_that_does_not(
    script: list[str], before: Hooks, told: Hooks, declared: tuple[bool, bool], place: int
) -> None:
    straight, paused = World(script), World(script)
    stack = straight.stack([*before, *told])
    expected = outcome(straight, lambda: straight.agent(stack).invoke(GO))
    stack = paused.stack([*before, *told])
    at = len(before) + min(place, len(told))
    stack[at:at] = [Pauses(interrupts=d) for d in declared]
    agent = paused.agent(stack, checkpointer=InMemorySaver())
    assert outcome(paused, lambda: to_the_end(agent)) == expected
