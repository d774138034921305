"""What holds for every run, whatever the model says and the hooks do.

Numbered 1 to 9 as the requirements number them. What is about single calls and about failures is
beside this file; the seventh, that a configuration survives its round trip, is with the
serialization it is about.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from interlock.graph import AgentGraph, AgentState, create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import AgentMiddleware
from interlock.middleware.collect import HOOK_POINTS
from interlock.state import merge_lists, pending_calls
from interlock.tools import tool

LIMIT = 4
THREAD: Any = {"configurable": {"thread_id": "t"}}
GO: Any = {"messages": [HumanMessage("go", id="go")]}
POINTS = [point for point in HOOK_POINTS if point != "on_error"]

quick = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])

Reply = tuple[str, Any]


def replies() -> st.SearchStrategy[list[Reply]]:
    """What a model says, in turn: calls, texts, nothing, calls nobody can read, half a reply."""
    calls = st.lists(st.sampled_from(["add", "fail", "finish", "unknown"]), min_size=1, max_size=3)
    one = st.one_of(
        st.tuples(st.just("calls"), calls),
        st.tuples(st.just("calls"), calls),
        st.tuples(st.just("cut off"), calls),
        st.tuples(st.just("text"), st.sampled_from(["hello", ""])),
        st.tuples(st.just("unreadable"), st.none()),
    )
    return st.lists(one, max_size=5)


def message(number: int, reply: Reply) -> AIMessage:
    """A reply as a message; ids say which reply they belong to."""
    kind, what = reply
    if kind == "text":
        return AIMessage(what)
    if kind == "unreadable":
        call: Any = {"name": "add", "args": "{", "id": f"x{number}", "error": "cut"}
        return AIMessage("", invalid_tool_calls=[{**call, "type": "invalid_tool_call"}])
    calls: Any = [
        {"name": name, "args": {"item": f"{number}.{n}"}, "id": f"c{number}-{n}"}
        for n, name in enumerate(what)
    ]
    told = {"finish_reason": "length"} if kind == "cut off" else {}
    return AIMessage("", tool_calls=calls, response_metadata=told)


class Kept(AgentState[Any]):
    items: Annotated[list[str], merge_lists]


@dataclass
class World:
    """A model, tools that keep what they did, and an agent of both."""

    script: Sequence[Reply]
    asks: bool = False
    """The tool ``add`` pauses the run before it does anything."""
    did: list[str] = field(default_factory=list[str])
    model: ScriptedChatModel = field(init=False)

    def __post_init__(self) -> None:
        said = [message(number, reply) for number, reply in enumerate(self.script)]
        self.model = ScriptedChatModel([*said, *["done"] * (LIMIT + 2)])

    def agent(self, **options: Any) -> AgentGraph:
        @tool
        def add(item: str) -> Command[Any]:
            """Add an item."""
            if self.asks:
                interrupt(f"add {item}?")
            self.did.append(item)
            return Command(update={"items": [item]})

        @tool
        def fail(item: str) -> str:
            """Fail."""
            self.did.append(item)
            raise OSError(item)

        @tool
        def finish(item: str) -> str:
            """Finish."""
            self.did.append(item)
            return f"finished {item}"

        options = {"max_agent_steps": LIMIT, "state_schema": Kept, **options}
        conditions = ["text", "finish"]
        return create_agent(self.model, [add, fail, finish], exit_conditions=conditions, **options)


Act = Callable[[Any, BaseMessage], Any]


def say(_state: Any, _last: BaseMessage) -> Any:
    return {"messages": [HumanMessage("a word")]}


def drop_result(_state: Any, last: BaseMessage) -> Any:
    return {"messages": [RemoveMessage(str(last.id))]} if isinstance(last, ToolMessage) else None


def answer_call(state: Any, _last: BaseMessage) -> Any:
    """Answer the first open call itself, so that it does not run."""
    calls = pending_calls(state["messages"])
    return {"messages": [ToolMessage("no", tool_call_id=str(c["id"])) for c in calls[:1]]}


def answer_nothing(_state: Any, _last: BaseMessage) -> Any:
    return {"messages": [ToolMessage("who asked?", tool_call_id="nobody")]}


def call_more(state: Any, _last: BaseMessage) -> Any:
    number = f"h{len(state['messages'])}"
    return {"messages": [message(9, ("calls", ["add"])).model_copy(update={"id": number})]}


def to_model(_state: Any, _last: BaseMessage) -> Any:
    return {"jump_to": "model"}


def to_end(_state: Any, _last: BaseMessage) -> Any:
    return {"stop_run": "enough"}


def to_tools(state: Any, _last: BaseMessage) -> Any:
    return {"jump_to": "tools"} if pending_calls(state["messages"]) else None


ACTS: Sequence[Act] = (
    say, drop_result, answer_call, answer_nothing, call_more, to_model, to_end, to_tools,
)  # fmt: skip


def meddling(point: str, act: Act, times: int) -> AgentMiddleware[Any, Any, Any]:
    """A middleware that does something at a point, a number of times."""
    left = [times]

    def hook(_self: Any, state: Any, runtime: Any) -> Any:  # noqa: ARG001
        messages = state["messages"]
        if not left[0] or not messages:
            return None
        left[0] -= 1
        return act(state, messages[-1])

    kind: Any = type(f"{act.__name__}_{point}", (AgentMiddleware,), {point: hook})
    made: AgentMiddleware[Any, Any, Any] = kind()
    return made


def meddlers() -> st.SearchStrategy[list[tuple[str, Act, int]]]:
    one = st.tuples(st.sampled_from(POINTS), st.sampled_from(ACTS), st.integers(1, 2))
    return st.lists(one, max_size=4)


def plain(result: Any) -> dict[str, Any]:
    """A final state without ids that differ from run to run."""
    rows = [
        (
            m.type,
            m.text,
            [(c["name"], c["args"], c["id"]) for c in getattr(m, "tool_calls", ())],
            getattr(m, "tool_call_id", None),
            getattr(m, "status", None),
        )
        for m in result["messages"]
    ]
    counts = {k: result.get(k) for k in ("exit_reason", "step_count", "tool_call_counts", "items")}
    return {"messages": rows, **counts}


@given(script=replies(), hooks=meddlers(), durable=st.booleans())
@quick
def test_1_and_4_no_request_is_invalid_and_no_limit_is_passed(
    script: list[Reply], hooks: list[Any], durable: bool, assert_valid: Any
) -> None:
    world = World(script)
    middleware = [meddling(*hook) for hook in hooks]
    options = {"checkpointer": InMemorySaver()} if durable else {}
    agent = world.agent(middleware=middleware, **options)
    result = agent.invoke(GO, THREAD)
    for request in world.model.requests:
        assert_valid(request)
    steps, asked = result["step_count"], len(world.model.requests)
    assert steps <= LIMIT
    assert asked <= steps + 1
    assert sum(result["tool_call_counts"].values()) >= len(set(world.did))


@given(script=replies(), hooks=meddlers(), limit=st.integers(1, LIMIT))
@quick
def test_4_each_step_is_one_call_of_the_model(
    script: list[Reply], hooks: list[Any], limit: int
) -> None:
    world = World(script)
    middleware = [meddling(*h) for h in hooks if h[1] not in (to_model, to_tools, call_more)]
    result = world.agent(middleware=middleware, max_agent_steps=limit).invoke(GO)
    assert result["step_count"] == len(world.model.requests) <= limit


@given(script=replies(), hooks=meddlers())
@settings(quick, max_examples=10)
def test_2_every_way_of_running_ends_in_the_same_state(
    script: list[Reply], hooks: list[Any]
) -> None:
    def build(**options: Any) -> AgentGraph:
        return World(script).agent(middleware=[meddling(*hook) for hook in hooks], **options)

    expected = plain(build().invoke(GO))
    assert plain(asyncio.run(build().ainvoke(GO))) == expected
    assert plain(list(build().stream(GO, stream_mode="values"))[-1]) == expected
    stored = build(checkpointer=InMemorySaver())
    assert plain(stored.invoke(GO, THREAD)) == expected
    resumed = build(checkpointer=InMemorySaver(), interrupt_before=["model", "tools"])
    assert plain(to_the_end(resumed)) == expected


def to_the_end(agent: AgentGraph) -> Any:
    """The result of a run that goes on after each of its pauses."""
    value: Any = GO
    for _ in range(60):
        result = agent.invoke(value, THREAD)
        snapshot = agent.get_state(THREAD)
        if not snapshot.next:
            return result
        value = Command(resume={i.id: "go on" for i in snapshot.interrupts})
        if not snapshot.interrupts:
            value = None
    pytest.fail("the run does not end")


def at_all_points(name: str, act: Callable[[str], None], **more: Any) -> Any:
    """A middleware that does something at each point of a run."""

    def hook(point: str) -> Callable[[Any, Any, Any], None]:
        def at_point(_self: Any, state: Any, runtime: Any) -> None:  # noqa: ARG001
            act(point)

        return at_point

    hooks: dict[str, Any] = {point: hook(point) for point in POINTS}
    return type(name, (AgentMiddleware,), {**hooks, **more})()


def pauses(points: frozenset[str], *, declared: bool) -> Any:
    def pause(point: str) -> None:
        if point in points:
            interrupt(point)

    return at_all_points("Pauses", pause, interrupts=declared)


@given(
    script=replies(),
    points=st.frozensets(st.sampled_from(POINTS), max_size=4),
    nodes=st.sets(st.sampled_from(["model", "tools"])),
    declared=st.booleans(),
    asks=st.booleans(),
)
@quick
def test_3_a_run_that_pauses_anywhere_ends_like_one_that_does_not(
    script: list[Reply], points: frozenset[str], nodes: set[str], declared: bool, asks: bool
) -> None:
    straight, paused = World(script), World(script, asks=asks)

    def notes(world: World, name: str) -> Any:
        return at_all_points(name, lambda point: world.did.append(f"{name} {point}"))

    before, after = notes(straight, "Before"), notes(straight, "After")
    expected = plain(straight.agent(middleware=[before, after]).invoke(GO))
    one, two = pauses(points, declared=declared), pauses(points, declared=not declared)
    agent = paused.agent(
        middleware=[notes(paused, "Before"), one, two, notes(paused, "After")],
        checkpointer=InMemorySaver(),
        interrupt_after=sorted(nodes),
    )
    assert plain(to_the_end(agent)) == expected
    assert Counter(paused.did) == Counter(straight.did)
    assert len(paused.model.requests) == len(straight.model.requests)
