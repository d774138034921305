"""Inputs are filtered before anybody sees them, and private state is seen by nobody."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NotRequired

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.tools import tool
from langchain_core.tracers import BaseTracer, Run
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command, Overwrite

from interlock.graph import AgentGraph, create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import AgentMiddleware, PIIDetectionError, PIIMiddleware
from interlock.state import AgentState, InvalidInputError, InvalidUpdateError, PrivateStateAttr

RAW = "kim@example.com"
ASK = {"messages": [HumanMessage(f"write to {RAW}")]}
THREAD: Any = {"configurable": {"thread_id": "t"}}
MODES = ("values", "updates", "messages", "tasks", "checkpoints", "debug")


@tool
def send(to: str) -> str:
    """Send a letter."""
    assert "@" in to
    return f"sent to {to}"


class Bystander(AgentMiddleware[Any, Any, Any]):
    """Has every kind of hook, none with a trace policy."""

    def before_model(self, state: Any, runtime: Any) -> None: ...

    def after_model(self, state: Any, runtime: Any) -> None: ...

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        return handler(request)

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        return handler(request)


class Tracer(BaseTracer):
    """Everything that was recorded, as one text per run."""

    def _persist_run(self, run: Run) -> None:
        self.root = run

    def recorded(self) -> list[str]:
        def walk(run: Any) -> Iterator[str]:
            yield f"{run.name}: {run.inputs!r} {run.outputs!r} {run.extra!r}"
            for child in run.child_runs:
                yield from walk(child)

        return list(walk(self.root))


def agent(strategy: Any, **options: Any) -> AgentGraph:
    """One that works with a token or the like, calls a tool with it, and answers."""

    def call(messages: list[BaseMessage]) -> AIMessage:
        args = {"to": messages[-1].text.removeprefix("write to ")}
        return AIMessage("", tool_calls=[{"name": "send", "args": args, "id": "c1"}])

    model = ScriptedChatModel([call if strategy == "token" else "done", "done"], repeat_last=True)
    pii = PIIMiddleware(
        "email", strategy=strategy, apply_to_tool_results=strategy == "token", key="k"
    )
    return create_agent(model, [send], middleware=[Bystander(), pii, Bystander()], **options)


async def shown(graph: AgentGraph, asynchronous: bool, config: Any, **options: Any) -> list[Any]:
    if asynchronous:
        return [chunk async for chunk in graph.astream(ASK, config, **options)]
    return list(graph.stream(ASK, config, **options))


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("strategy", ["redact", "token"])
async def test_no_stream_shows_the_input_as_it_came(strategy: str, asynchronous: bool) -> None:
    for mode in MODES:
        graph = agent(strategy, checkpointer=InMemorySaver())
        chunks = await shown(graph, asynchronous, THREAD, stream_mode=mode)
        assert RAW not in repr(chunks), mode


@pytest.mark.filterwarnings("ignore:The v3 streaming protocol")
@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("strategy", ["redact", "token"])
async def test_no_event_shows_the_input_as_it_came(strategy: str, asynchronous: bool) -> None:
    graph = agent(strategy)
    if asynchronous:
        events: list[Any] = [e async for e in graph.astream_events(ASK, version="v2")]
    else:
        events = list(graph.stream_events(ASK, version="v3"))
    # What a tool gets back it also reports.
    inside = {"send", "Bystander#2.wrap_tool_call"}
    seen = [e for e in events if e.get("name") not in inside and e.get("method") != "tools"]
    assert len(seen) > 4
    assert RAW not in repr(seen)


async def test_no_trace_records_the_input_as_it_came(run: Any) -> None:
    tracer = Tracer()
    await run(agent("redact"), ASK, {"callbacks": [tracer]})
    assert [text for text in tracer.recorded() if RAW in text] == []


async def test_a_trace_shows_tokens_except_where_a_tool_gets_values(run: Any) -> None:
    tracer = Tracer()
    result = await run(agent("token"), ASK, {"callbacks": [tracer]})
    assert result["messages"][2].text.startswith("sent to <email:")
    assert [t.split(":")[0] for t in tracer.recorded() if RAW in t] == [
        "Bystander#2.wrap_tool_call",
        "send",
    ]


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_batch_is_filtered_too(asynchronous: bool) -> None:
    graph = agent("redact")
    results = await graph.abatch([ASK, ASK]) if asynchronous else graph.batch([ASK, ASK])
    assert RAW not in repr(results)


def test_no_byte_of_the_input_reaches_the_database(tmp_path: Path) -> None:
    file = tmp_path / "threads.db"
    with SqliteSaver.from_conn_string(str(file)) as saver:
        graph = agent("redact", checkpointer=saver)
        graph.invoke(ASK, THREAD)
        graph.invoke({"messages": "and lee@example.org?"}, THREAD, durability="async")
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"done" in stored
    assert b"kim@" not in stored
    assert b"lee@" not in stored


def test_a_blocked_input_leaves_nothing_behind(tmp_path: Path) -> None:
    with SqliteSaver.from_conn_string(str(tmp_path / "threads.db")) as saver:
        graph = agent("block", checkpointer=saver)
        with pytest.raises(PIIDetectionError):
            graph.invoke(ASK, THREAD)
        assert list(saver.list(None)) == []
        assert graph.invoke({"messages": "hello"}, THREAD)["messages"][-1].text == "done"


async def test_what_was_put_aside_survives_a_stop_before_the_first_node(run: Any) -> None:
    saver = InMemorySaver()
    await run(agent("token", checkpointer=saver, interrupt_before=["model"]), ASK, THREAD)
    result = await run(agent("token", checkpointer=saver), None, THREAD)
    assert result["messages"][2].status == "success"


async def test_messages_of_a_command_are_filtered(run: Any) -> None:
    graph = agent("redact", checkpointer=InMemorySaver())
    await run(graph, {"messages": "hi"}, THREAD)
    result = await run(graph, Command(update=ASK, goto="model"), THREAD)
    assert result["messages"][-2].text == "write to [REDACTED_EMAIL]"


@dataclass
class Update:
    """An update by annotated attributes."""

    messages: list[BaseMessage]


UPDATES: list[Any] = [
    [("messages", ASK["messages"])],
    (("messages", ASK["messages"][0]), ("messages", f"also {RAW}")),
    Update(list[BaseMessage](ASK["messages"])),
    {"messages": Overwrite(ASK["messages"])},
    {"messages": {"__overwrite__": ASK["messages"]}},
    {"messages": ("user", f"write to {RAW}")},
]


@pytest.mark.parametrize("update", UPDATES)
async def test_no_notation_of_a_command_escapes_the_filter(run: Any, update: Any) -> None:
    saver, tracer = InMemorySaver(), Tracer()
    graph = agent("redact", checkpointer=saver)
    await run(graph, {"messages": "hi"}, THREAD)
    before = len(list(saver.list(THREAD)))
    result = await run(
        graph, Command(update=update, goto="model"), {**THREAD, "callbacks": [tracer]}
    )
    assert len(list(saver.list(THREAD))) > before
    for seen in (result, list(saver.list(THREAD)), tracer.recorded()):
        assert RAW not in repr(seen)
    assert "to [REDACTED_EMAIL]" in repr(result)


async def test_a_command_that_brings_no_messages_is_refused_by_name(run: Any) -> None:
    graph = agent("redact", checkpointer=InMemorySaver())
    await run(graph, {"messages": "hi"}, THREAD)
    with pytest.raises(InvalidInputError, match="is no message"):
        await run(graph, Command(update={"messages": {"a": 1}}, goto="model"), THREAD)


class Counted(AgentState[Any]):
    seen: NotRequired[Annotated[list[str], PrivateStateAttr]]


class Counting(AgentMiddleware[Any, Any, Any]):
    """Keeps a list in private state, across runs of a thread."""

    state_schema = Counted

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any]:  # noqa: ARG002
        return {"seen": [*state.get("seen", ()), "a secret"]}


async def test_private_state_is_kept_but_not_shown(run: Any) -> None:
    model = ScriptedChatModel(["done"], repeat_last=True)
    graph = create_agent(model, middleware=[Counting()], checkpointer=InMemorySaver())
    tracer = Tracer()

    for _ in range(3):
        await run(graph, {"messages": "hi"}, {**THREAD, "callbacks": [tracer]})
    chunks = list(graph.stream({"messages": "hi"}, THREAD, stream_mode=[*MODES]))

    saved = graph.checkpointer.get(THREAD)  # type: ignore[union-attr]
    assert saved is not None
    assert saved["channel_values"]["seen"] == ["a secret"] * 4
    assert "a secret" not in repr(chunks)
    assert [text for text in tracer.recorded() if "a secret" in text] == []


@pytest.mark.parametrize(
    ("returned", "named"),
    [({"messages": [], "other": 1}, "'other'"), ("text", "str"), ([1], "list")],
)
async def test_a_filter_that_returns_anything_else_is_named(
    run: Any, returned: Any, named: str
) -> None:
    class Odd(AgentMiddleware[Any, Any, Any]):
        def filter_input(self, messages: Any) -> Any:  # noqa: ARG002
            return returned

    with pytest.raises(InvalidUpdateError, match=named) as caught:
        await run(create_agent(ScriptedChatModel(["x"]), middleware=[Odd()]), {"messages": "hi"})
    assert "Odd.filter_input" in str(caught.value)


async def test_filters_run_in_the_order_of_registration(run: Any) -> None:
    class Adds(AgentMiddleware[Any, Any, Any]):
        def __init__(self, word: str) -> None:
            self.word = word

        def filter_input(self, messages: list[BaseMessage]) -> list[BaseMessage]:
            return [HumanMessage(f"{messages[0].text} {self.word}")]

    graph = create_agent(ScriptedChatModel(["x"]), middleware=[Adds("one"), Adds("two")])
    assert (await run(graph, {"messages": "go"}))["messages"][0].text == "go one two"
