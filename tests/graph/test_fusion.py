"""Fused hooks against a reference with one node per hook, on plain langgraph."""

from __future__ import annotations

import asyncio
import operator
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NotRequired, get_args

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from interlock.graph import create_agent
from interlock.middleware import AgentMiddleware
from interlock.state import AgentState

Point = Literal[
    "before_agent", "before_model", "after_model", "before_tools", "after_tools", "after_agent"
]
POINTS: tuple[Point, ...] = get_args(Point)
REVERSED = {"after_model", "after_tools", "after_agent"}
Act = Literal["look", "update", "interrupt", "declared", "fail", "end"]
Stack = list[dict[Point, Act]]


class Logged(AgentState):
    log: Annotated[list[str], operator.add]
    last: NotRequired[str]


@dataclass
class World:
    """What happens outside of the state: it is not undone by a pause."""

    completed: list[str] = field(default_factory=list[str])
    failed: set[str] = field(default_factory=set[str])
    model_calls: int = 0
    tool_calls: int = 0


def hook_of(world: World, name: str, act: Act) -> Callable[[Any], Any]:
    """One hook: it tells how much of the log it saw, and does what ``act`` says."""

    def hook(state: Any) -> Any:
        if act in {"interrupt", "declared"}:
            interrupt(name)
        visit = f"{name}@{len(state['log'])}"
        if act == "fail" and name not in world.failed:
            world.failed.add(name)
            msg = f"{name} failed"
            raise RuntimeError(msg)
        world.completed.append(name)
        if act == "look":
            return None
        update: dict[str, Any] = {"log": [visit], "last": name}
        if act == "end":
            update["jump_to"] = "end"
        return update

    return hook


def as_method(hook: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    def method(_self: Any, state: Any) -> Any:
        return hook(state)

    return method


def middleware_of(world: World, stack: Stack) -> list[AgentMiddleware]:
    made: list[AgentMiddleware] = []
    for position, acts in enumerate(stack):
        members: dict[str, Any] = {
            point: as_method(hook_of(world, f"{position}.{point}", act))
            for point, act in acts.items()
        }
        members["interrupts"] = [p for p, act in acts.items() if act == "declared"]
        made.append(type(f"M{position}", (AgentMiddleware,), members)())
    return made


def reply_to(messages: Sequence[BaseMessage]) -> AIMessage:
    """Ask for a tool first, then answer."""
    asked = any(isinstance(m, ToolMessage) for m in messages)
    call: Any = {"name": "work", "args": {}, "id": "c1", "type": "tool_call"}
    return AIMessage("done") if asked else AIMessage("", tool_calls=[call])


class TwoTurns(BaseChatModel):
    """A model that does so."""

    world: Any

    @property
    def _llm_type(self) -> str:
        return "two turns"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:  # noqa: ARG002
        return self

    def _generate(self, messages: Any, *_: Any, **__: Any) -> ChatResult:
        self.world.model_calls += 1
        return ChatResult(generations=[ChatGeneration(message=reply_to(messages))])


def fused(world: World, stack: Stack, checkpointer: Any = None) -> Any:
    @tool
    def work() -> str:
        """Work."""
        world.tool_calls += 1
        return "worked"

    model, hooks = TwoTurns(world=world), middleware_of(world, stack)
    return create_agent(
        model, [work], middleware=hooks, state_schema=Logged, checkpointer=checkpointer
    )


class Plain(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]
    log: Annotated[list[str], operator.add]
    last: NotRequired[str]


FOLLOWING = {
    "before_agent": "before_model",
    "before_model": "model",
    "before_tools": "tools",
    "after_tools": "before_model",
    "after_agent": END,
}


class Reference:
    """The same agent with a node, and so a superstep, for each hook."""

    def __init__(self, world: World, stack: Stack) -> None:
        self.world = world
        self.graph: Any = StateGraph(Plain)
        self.hooks = {point: self._names(stack, point) for point in POINTS}
        for point, hooks in self.hooks.items():
            for name, act in hooks:
                node: Any = self._hook_node(point, name, act)
                self.graph.add_node(name, node)
        for name, run in {"model": self._model, "tools": self._tools, "close": self._close}.items():
            step: Any = run
            self.graph.add_node(name, step)
        self.graph.add_edge(START, self._first("before_agent"))

    def compile(self) -> Any:
        return self.graph.compile(checkpointer=InMemorySaver())

    @staticmethod
    def _names(stack: Stack, point: Point) -> list[tuple[str, Act]]:
        named: list[tuple[str, Act]] = [
            (f"{n}.{point}", acts[point]) for n, acts in enumerate(stack) if point in acts
        ]
        return named[::-1] if point in REVERSED else named

    def _first(self, point: str) -> str:
        """The first node from a point on."""
        if point == "close":
            return "close"
        hooks = self.hooks[point]  # type: ignore[index]
        if hooks:
            return hooks[0][0]
        return "route" if point == "after_model" else self._following(point)

    def _following(self, point: str) -> str:
        target = FOLLOWING[point]
        return target if target in {"model", "tools", END} else self._first(target)

    def _after(self, point: str, name: str, state: Any) -> str:
        names = [n for n, _ in self.hooks[point]]  # type: ignore[index]
        place = names.index(name) + 1
        if place < len(names):
            return names[place]
        return self._leave(point, state)

    def _leave(self, point: str, state: Any) -> str:
        if point == "after_model":
            return self._first("before_tools") if state["messages"][-1].tool_calls else "close"
        return self._following(point)

    def _hook_node(self, point: str, name: str, act: Act) -> Any:
        hook = hook_of(self.world, name, act)

        def node(state: Plain) -> Any:
            update = dict(hook(state) or {})
            ends = update.pop("jump_to", None) and point != "after_agent"
            jumps_out = point == "after_agent" and act == "end"
            goto = "close" if ends else END if jumps_out else self._after(point, name, state)
            return Command(update=update, goto=goto)

        return node

    def _model(self, state: Plain) -> Any:
        self.world.model_calls += 1
        reply = reply_to(state["messages"])
        goto = self._first("after_model")
        if goto == "route":
            goto = self._first("before_tools") if reply.tool_calls else "close"
        return Command(update={"messages": [reply]}, goto=goto)

    def _tools(self, _state: Plain) -> Any:
        self.world.tool_calls += 1
        answer = ToolMessage("worked", tool_call_id="c1", name="work")
        return Command(update={"messages": [answer]}, goto=self._first("after_tools"))

    def _close(self, state: Plain) -> Any:
        last = state["messages"][-1]
        open_call = isinstance(last, AIMessage) and last.tool_calls
        answer = [ToolMessage("not run", tool_call_id="c1", name="work")] if open_call else []
        return Command(update={"messages": answer}, goto=self._first("after_agent"))


def first_input() -> dict[str, Any]:
    return {"messages": [HumanMessage("go", id="h")], "log": []}


async def drive(graph: Any, mode: str) -> dict[str, Any]:
    """Run to the end: answer every pause by its id, repeat after every failure."""
    config: Any = {"configurable": {"thread_id": "t"}}
    value: Any = first_input()
    for _ in range(200):
        try:
            await once(graph, value, config, mode)
        except RuntimeError:
            value = None
            continue
        snapshot = graph.get_state(config)
        if snapshot.interrupts:
            value = Command(resume={i.id: "yes" for i in snapshot.interrupts})
        elif snapshot.next:
            value = None
        else:
            return dict(snapshot.values)
    msg = "the run does not end"
    raise AssertionError(msg)


async def once(graph: Any, value: Any, config: Any, mode: str) -> None:
    if mode == "invoke":
        graph.invoke(value, config)
    elif mode == "ainvoke":
        await graph.ainvoke(value, config)
    elif mode == "stream":
        for _ in graph.stream(value, config, stream_mode=["updates", "messages"]):
            pass
    else:
        async for _ in graph.astream(value, config, stream_mode="values"):
            pass


def seen(values: dict[str, Any]) -> dict[str, Any]:
    kinds = [m.type for m in values["messages"]]
    return {"kinds": kinds, "log": values["log"], "last": values.get("last")}


acts = st.sampled_from(["look", "update", "update", "interrupt", "declared", "fail", "end"])
stacks = st.lists(st.dictionaries(st.sampled_from(POINTS), acts, max_size=4), max_size=4)
modes = st.sampled_from(["invoke", "ainvoke", "stream", "astream"])


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(stack=stacks, mode=modes)
def test_fused_hooks_do_what_one_node_per_hook_does(stack: Stack, mode: str) -> None:
    ours, theirs = World(), World()
    result = asyncio.run(drive(fused(ours, stack, InMemorySaver()), mode))
    expected = asyncio.run(drive(Reference(theirs, stack).compile(), "invoke"))
    assert seen(result) == seen(expected)
    assert Counter(ours.completed) == Counter(theirs.completed), "a hook ran more or less often"
    assert ours.completed == theirs.completed
    assert ours.model_calls == theirs.model_calls, "the model was called again"
    assert ours.tool_calls == theirs.tool_calls


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(stack=stacks)
def test_a_run_without_storage_ends_like_a_stored_one(stack: Stack) -> None:
    calm: Stack = [
        {p: a for p, a in acts.items() if a in {"look", "update", "end"}} for acts in stack
    ]
    stored, unwatched = World(), World()
    expected = asyncio.run(drive(fused(stored, calm, InMemorySaver()), "invoke"))
    result = fused(unwatched, calm).invoke(first_input())
    assert seen(result) == seen(expected)
    assert unwatched.completed == stored.completed
