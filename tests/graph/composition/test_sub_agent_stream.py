"""Agents inside a run as streams of their own: names, causes, ends, and what is in them."""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import MessagesState
from langgraph.prebuilt import ToolCallTransformer
from langgraph.stream import StreamTransformer
from langgraph.types import Command

from interlock.graph import SubagentTransformer, agent_node, agent_tool, create_agent
from interlock.graph.models import ScriptedChatModel

Calling = Callable[..., AIMessage]
Agents = Callable[..., Any]
GO: dict[str, Any] = {"messages": "go"}


def broken(_: Any) -> str:
    """A step of a script that fails."""
    msg = "no luck"
    raise ValueError(msg)


class Watch:
    """Reads streams in one of the two ways."""

    def __init__(self, mode: str) -> None:
        self.asynchronous = mode == "async"

    async def begin(self, graph: Any, value: Any, config: Any = None) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # langgraph calls these streams experimental
            if self.asynchronous:
                return await graph.astream_events(value, config, version="v3")
            return graph.stream_events(value, config, version="v3")

    async def each(self, channel: Any) -> AsyncIterator[Any]:
        if self.asynchronous:
            async for item in channel:
                yield item
        else:
            for item in channel:
                yield item

    async def tree(self, run: Any) -> list[Any]:
        """Per agent its name, the call that began it, how it ended, and the agents inside it."""
        found: list[Any] = []
        async for handle in self.each(run.subagents):
            inside = await self.tree(handle)
            cause: Any = handle.cause or {}
            found.append(
                (
                    handle.name,
                    cause.get("tool_call_id"),
                    handle.status,
                    *([inside] if inside else []),
                )
            )
        return found

    async def of(self, graph: Any, value: Any = GO, config: Any = None) -> list[Any]:
        return await self.tree(await self.begin(graph, value, config))


@pytest.fixture(params=["sync", "async"])
def watch(request: pytest.FixtureRequest) -> Watch:
    return Watch(request.param)


def by_hand(agent: Any) -> Any:
    """A tool of a program's own that calls an agent."""

    async def later(task: str) -> str:
        return str((await agent.ainvoke({"messages": task}))["messages"][-1].text)

    def hand(task: str) -> str:
        """Ask."""
        return str(agent.invoke({"messages": task})["messages"][-1].text)

    made: Any = tool(hand)
    made.coroutine = later
    return made


@pytest.mark.parametrize("kind", ["agent_tool", "by_hand"])
async def test_an_agent_in_a_tool_is_shown_with_its_name_its_call_and_its_own_streams(
    watch: Watch, agents: Agents, calling: Calling, kind: str
) -> None:
    inner = agents("inner", "the answer")
    asked = by_hand(inner) if kind == "by_hand" else agent_tool(inner, description="d", name="hand")
    boss = agents("boss", calling(("hand", {"task": "t"})), "done", tools=[asked])
    run = await watch.begin(boss, GO)
    shown: list[Any] = []
    async for handle in watch.each(run.subagents):
        texts = [
            str(await message.text if watch.asynchronous else message.text)
            async for message in watch.each(handle.messages)
        ]
        output = await handle.output() if watch.asynchronous else handle.output
        shown.append((handle.name, handle.cause, texts, output["messages"][-1].text))
        assert (handle.status, handle.error) == ("completed", None)
    assert shown == [
        ("inner", {"type": "toolCall", "tool_call_id": "c1"}, ["the answer"], "the answer")
    ]


async def test_calls_side_by_side_are_told_apart(
    watch: Watch, agents: Agents, calling: Calling
) -> None:
    inner = agents("inner", "ok")
    tools = [by_hand(inner), agent_tool(inner, description="d")]
    calls = [("hand", {"task": "a"}), ("inner", {"task": "b"}), ("hand", {"task": "c"})]
    boss = agents("boss", calling(*calls), "done", tools=tools)
    shown = await watch.of(boss)
    assert sorted(shown) == [("inner", call, "completed") for call in ("c1", "c2", "c3")]


async def test_a_plain_tool_is_not_shown(
    watch: Watch, agents: Agents, calling: Calling, office: Any
) -> None:
    boss = agents("boss", calling(("look", {"what": "x"})), "done", tools=[office["look"]])
    assert await watch.of(boss) == []


async def test_agents_inside_agents_are_shown_by_the_one_around_them(
    watch: Watch, agents: Agents, calling: Calling
) -> None:
    asked = calling(("x", {"task": "t"})).tool_calls[0]
    leaf = agents("leaf", "ok")

    def ask(name: str) -> AIMessage:
        # The same id on each level, as some providers give.
        return AIMessage("", tool_calls=[{**asked, "name": name, "id": "c1"}])

    third = agents("third", ask("leaf"), "3", tools=[agent_tool(leaf, description="d")])
    second = agents("second", ask("hand"), "2", tools=[by_hand(third)])
    boss = agents("boss", ask("second"), "1", tools=[agent_tool(second, description="d")])
    done = ("c1", "completed")
    assert await watch.of(boss) == [
        ("second", *done, [("third", *done, [("leaf", *done)])]),
    ]


async def test_a_call_that_is_over_ends_its_agent_before_the_next_one_begins(
    watch: Watch, agents: Agents, calling: Calling, thread: Any
) -> None:
    inner = agents("inner", "one", "two", "three")
    twice = calling(("inner", {"task": "a"}), ("inner", {"task": "b"}))
    boss = agents(
        "boss",
        twice,
        calling(("inner", {"task": "c"}), start=3),
        "done",
        tools=[agent_tool(inner, description="d", remember=True)],
        checkpointer=InMemorySaver(),
    )
    run = await watch.begin(boss, GO, thread)
    seen: list[Any] = []
    async for handle in watch.each(run.subagents):
        states = [state async for state in watch.each(handle.values)]
        seen.append((handle.cause["tool_call_id"], states[-1]["messages"][-1].text))
    assert seen == [("c1", "one"), ("c2", "two"), ("c3", "three")]


async def test_nodes_of_a_plain_graph_are_shown_where_the_graph_is_asked_for_it(
    watch: Watch, agents: Agents, calling: Calling, around: Any
) -> None:
    leaf = agent_tool(agents("leaf", "ok"), description="d")
    node = agents("node", calling(("leaf", {"task": "t"})), "done", tools=[leaf])
    nodes = [("first", agent_node(node)), ("second", agents("peer", "bye"))]
    graph = around(MessagesState, *nodes, transformers=[SubagentTransformer])
    assert await watch.of(graph, {"messages": [HumanMessage("go")]}) == [
        ("node", None, "completed", [("leaf", "c1", "completed")]),
        ("peer", None, "completed"),
    ]


async def test_a_graph_without_a_name_is_passed_over(
    watch: Watch, agents: Agents, calling: Calling, around: Any
) -> None:
    team = around(MessagesState, ("a", agents("a", "x")), ("b", agent_node(agents("b", "y"))))
    boss = agents(None, calling(("hand", {"task": "t"})), "done", tools=[by_hand(team)])
    assert await watch.of(boss) == [("a", None, "completed"), ("b", None, "completed")]


async def test_an_agent_has_its_own_name_where_it_is_handed_the_config_around_it(
    watch: Watch, agents: Agents, calling: Calling
) -> None:
    inner, unnamed = agents("inner", "ok"), create_agent(ScriptedChatModel(["ok"]))

    @tool
    async def given(config: RunnableConfig) -> str:
        """Ask."""
        await inner.ainvoke(GO, config)
        return "ok"

    @tool("given")
    def given_now(config: RunnableConfig) -> str:
        """Ask."""
        inner.invoke(GO, config)
        return "ok"

    calls: list[Any] = [("given", {}), ("unnamed", {"task": "t"})]
    asked = given if watch.asynchronous else given_now
    tools = [asked, agent_tool(unnamed, name="unnamed", description="d")]
    boss = agents("boss", calling(*calls), "done", tools=tools)
    shown = await watch.of(boss)
    assert sorted(name for name, *_ in shown) == ["inner", "unnamed"]


async def test_an_agent_that_fails_ends_so_and_the_run_goes_on(
    watch: Watch, agents: Agents, calling: Calling
) -> None:
    both = calling(("bad", {"task": "t"}), ("good", {"task": "t"}))
    tools = [
        agent_tool(agents(n, r), description="d") for n, r in (("bad", broken), ("good", "ok"))
    ]
    run = await watch.begin(agents("boss", both, "done", tools=tools), GO)
    shown: dict[str, Any] = {}
    async for handle in watch.each(run.subagents):
        shown[handle.name] = handle
    bad, good = shown["bad"], shown["good"]
    assert (bad.status, good.status, good.error) == ("failed", "completed", None)
    assert "no luck" in bad.error
    with pytest.raises(ValueError, match="no luck"):
        _ = [event async for event in watch.each(bad)]
    output = await run.output() if watch.asynchronous else run.output
    assert output["messages"][-1].text == "done"


async def test_an_agent_that_waits_says_so_and_is_shown_again_when_it_goes_on(
    watch: Watch, agents: Agents, calling: Calling, office: Any, thread: Any
) -> None:
    replies = calling(("ask", {"question": "x?"})), "inner done"
    deep = agents("deep", *replies, tools=[office["ask"]])
    middle = agents(
        "middle", calling(("deep", {"task": "t"})), "ok", tools=[agent_tool(deep, description="d")]
    )
    boss = agents(
        "boss",
        calling(("middle", {"task": "t"})),
        "done",
        tools=[agent_tool(middle, description="d")],
        checkpointer=InMemorySaver(),
    )
    for value, status in ((GO, "interrupted"), (Command(resume="yes"), "completed")):
        inside = [("deep", "c1", status)]
        assert await watch.of(boss, value, thread) == [("middle", "c1", status, inside)]


async def test_an_error_that_ends_the_run_ends_the_agents_in_it(
    watch: Watch, agents: Agents, calling: Calling
) -> None:
    failing = agent_tool(agents("inner", broken), description="d")
    asks = calling(("inner", {"task": "t"}))
    boss = agents("boss", asks, "done", tools=[failing], on_tool_error="raise")
    run = await watch.begin(boss, GO)
    handles = watch.each(run.subagents)
    inner = await anext(handles)
    with pytest.raises(ValueError, match="no luck"):
        await anext(handles)
    assert (inner.name, inner.status, inner.error) == ("inner", "failed", "no luck")


class _Counting(StreamTransformer):
    """A view of a program's own."""

    def __init__(self, scope: tuple[str, ...] = ()) -> None:
        super().__init__(scope)
        self.seen: list[str] = []

    def init(self) -> dict[str, Any]:
        return {"seen": self.seen}

    def process(self, event: Any) -> bool:
        self.seen.append(event["method"])
        return True


async def test_views_of_a_program_come_after_and_are_part_of_each_agents_stream(
    watch: Watch, agents: Agents, calling: Calling
) -> None:
    inner = agent_tool(agents("inner", "ok"), description="d")
    asks = calling(("inner", {"task": "t"}))
    boss = agents("boss", asks, "done", tools=[inner], transformers=[_Counting])
    assert list(boss.stream_transformers) == [ToolCallTransformer, SubagentTransformer, _Counting]
    run = await watch.begin(boss, GO)
    handles = [handle async for handle in watch.each(run.subagents)]
    assert {"values", "messages"} <= set(handles[0].extensions["seen"])
