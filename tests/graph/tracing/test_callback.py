"""Spans of whole agents, kept by an exporter in memory."""

from __future__ import annotations

import json
import sys
import threading
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.graph import START, StateGraph
from opentelemetry import trace
from opentelemetry.trace import SpanKind, StatusCode

from interlock.graph import AgentState, create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.graph.tracing import OpenTelemetryCallback, trace_with_opentelemetry
from interlock.middleware import (
    after_agent,
    after_model,
    before_agent,
    before_model,
    on_exit,
    wrap_tool_call,
)
from interlock.state import MissingExtraError
from interlock.tools import tool

PRIVATE = "my secret words"


@tool
def search(query: str) -> str:
    """Search."""
    return f"about {query}"


@tool
def fail(query: str) -> str:
    """Fail."""
    raise OSError(query)


@before_agent
def first(state: Any, runtime: Any) -> None: ...


@before_model
def before(state: Any, runtime: Any) -> None: ...


@after_model
def after(state: Any, runtime: Any) -> None: ...


@on_exit
def leaving(state: Any, runtime: Any) -> None: ...


@after_agent
def last(state: Any, runtime: Any) -> None: ...


@wrap_tool_call
def around(request: Any, handler: Any) -> Any:
    return handler(request)


USAGE: Any = {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}


async def test_a_run_has_steps_and_they_have_hooks_models_and_tools(
    run: Any, calling: Any, watched: Any
) -> None:
    model = ScriptedChatModel([calling(("search", {"query": "a"})), "done"])
    hooks = [first, before, after, around, leaving, last]
    agent = create_agent(model, [search], middleware=hooks, name="desk")
    await run(watched.agent(agent), {"messages": "go"})
    assert watched.tree == [
        "invoke_agent desk",
        "  hook first.before_agent",
        "  step",
        "    hook before.before_model",
        "    chat",
        "    hook after.after_model",
        "    hook around.wrap_tool_call",
        "      execute_tool search",
        "  step",
        "    hook before.before_model",
        "    chat",
        "    hook after.after_model",
        "  hook leaving.on_exit",
        "  hook last.after_agent",
    ]
    assert [s.attributes["interlock.step.index"] for s in watched.named("step")] == [0, 1]
    assert {s.status.status_code for s in watched.spans} == {StatusCode.UNSET}


async def test_a_run_tells_usage_exit_reason_and_settings(
    run: Any, calling: Any, thread: Any, watched: Any
) -> None:
    steps = [calling(("search", {"query": "a"})), AIMessage("done")]
    model = ScriptedChatModel([s.model_copy(update={"usage_metadata": USAGE}) for s in steps])
    agent = create_agent(model, [search], exit_conditions=["text", "search"], max_agent_steps=9)
    await run(watched.agent(agent), {"messages": "go"}, thread)
    assert dict(watched.one("invoke_agent").attributes) == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.conversation.id": "t",
        "gen_ai.usage.input_tokens": 5,
        "gen_ai.usage.output_tokens": 2,
        "interlock.exit_reason": "search",
        "interlock.steps": 1,
        "interlock.tool_calls": 1,
        "interlock.tools": ("search",),
        "interlock.exit_conditions": ("text", "search"),
        "interlock.max_agent_steps": 9,
        "interlock.state_keys": ("jump_to", "messages", "structured_response"),
    }
    chat = watched.one("chat")
    assert chat.kind is SpanKind.CLIENT
    assert chat.attributes["gen_ai.usage.output_tokens"] == 2
    assert watched.one("execute_tool").attributes["gen_ai.tool.call.id"] == "c1"


async def test_nothing_that_was_said_is_recorded_unless_asked_for(
    run: Any, calling: Any, watched: Any
) -> None:
    def script() -> ScriptedChatModel:
        asked = calling(("search", {"query": PRIVATE}), ("fail", {"query": PRIVATE}), text=PRIVATE)
        return ScriptedChatModel([asked, PRIVATE])

    agent = create_agent(script(), [search, fail], system_prompt=PRIVATE)
    await run(watched.agent(agent), {"messages": PRIVATE})
    assert PRIVATE not in watched.said
    watched.exporter.clear()
    agent = create_agent(script(), [search, fail], system_prompt=PRIVATE)
    await run(watched.agent(agent, content=True), {"messages": PRIVATE})
    chat = watched.named("chat")[-1].attributes
    assert json.loads(chat["gen_ai.system_instructions"])[0]["content"] == PRIVATE
    roles = [m["role"] for m in json.loads(chat["gen_ai.input.messages"])]
    assert roles == ["user", "assistant", "tool", "tool"]
    (reply,) = json.loads(chat["gen_ai.output.messages"])
    assert reply["parts"] == [{"type": "text", "content": PRIVATE}]
    (called,) = watched.named("execute_tool search")
    assert json.loads(called.attributes["gen_ai.tool.call.arguments"]) == {"query": PRIVATE}
    assert PRIVATE in called.attributes["gen_ai.tool.call.result"]
    assert PRIVATE in watched.one("execute_tool fail").events[0].attributes["exception.message"]
    whole = watched.one("invoke_agent").attributes
    assert json.loads(whole["gen_ai.input.messages"])[0]["parts"][0]["content"] == PRIVATE
    assert json.loads(whole["gen_ai.output.messages"])[0]["finish_reason"] == "stop"


async def test_tools_that_overlap_are_siblings(run: Any, calling: Any, watched: Any) -> None:
    together = threading.Barrier(2, timeout=10)

    @tool
    def meet(name: str) -> str:
        """Wait for the other."""
        together.wait()
        return name

    calls = calling(("meet", {"name": "a"}), ("meet", {"name": "b"}))
    agent = create_agent(ScriptedChatModel([calls, "done"]), [meet])
    await run(watched.agent(agent), {"messages": "go"})
    one, two = watched.named("execute_tool meet")
    assert one.parent == two.parent
    assert watched.parent(one) == "step"
    assert two.start_time < one.end_time
    assert one.start_time < two.end_time


async def test_an_agent_in_a_tool_is_below_it(run: Any, calling: Any, watched: Any) -> None:
    inner = create_agent(ScriptedChatModel(["42"]), name="expert")

    @tool
    def ask_expert(question: str) -> str:
        """Ask."""
        return str(inner.invoke({"messages": question})["messages"][-1].text)

    model = ScriptedChatModel([calling(("ask_expert", {"question": "?"})), "done"])
    agent = create_agent(model, [ask_expert], name="desk")
    await run(watched.agent(agent), {"messages": "go"})
    assert watched.tree == [
        "invoke_agent desk",
        "  step",
        "    chat",
        "    execute_tool ask_expert",
        "      invoke_agent expert",
        "        step",
        "          chat",
        "  step",
        "    chat",
    ]
    expert = watched.one("invoke_agent expert").attributes
    assert "interlock.max_agent_steps" not in expert
    assert expert["interlock.exit_reason"] == "text"


async def test_agents_in_a_graph_are_one_trace(run: Any, watched: Any) -> None:
    state: Any = AgentState
    graph: Any = StateGraph(state)
    for name in ("one", "two"):
        graph.add_node(name, create_agent(ScriptedChatModel([name]), name=name))
    graph.add_edge(START, "one")
    graph.add_edge("one", "two")
    callback = OpenTelemetryCallback(watched.provider)
    await run(graph.compile(), {"messages": [("user", "go")]}, {"callbacks": [callback]})
    assert watched.tree == [
        "invoke_workflow",
        "  invoke_agent one",
        "    step",
        "      chat",
        "  invoke_agent two",
        "    step",
        "      chat",
    ]


async def test_the_span_around_a_run_is_its_parent(run: Any, watched: Any) -> None:
    agent = watched.agent(create_agent(ScriptedChatModel(["hi"]), name="desk"))
    with watched.provider.get_tracer("app").start_as_current_span("request"):
        await run(agent, {"messages": "go"})
    assert watched.parent(watched.one("invoke_agent desk")) == "request"
    assert trace.get_current_span() is trace.INVALID_SPAN


async def test_what_tools_and_hooks_do_hangs_below_their_spans(
    run: Any, calling: Any, watched: Any
) -> None:
    tracer = watched.provider.get_tracer("app")

    @tool
    def look(query: str) -> str:
        """Look."""
        with tracer.start_as_current_span("database"):
            return query

    @before_model
    def fetch(state: Any, runtime: Any) -> None:  # noqa: ARG001
        with tracer.start_as_current_span("cache"):
            return

    calls = calling(("look", {"query": "a"}), ("look", {"query": "b"}))
    agent = create_agent(ScriptedChatModel([calls, "done"]), [look], middleware=[fetch])
    await run(watched.agent(agent), {"messages": "go"})
    assert {watched.parent(s) for s in watched.named("database")} == {"execute_tool look"}
    assert {watched.parent(s) for s in watched.named("cache")} == {"hook fetch.before_model"}


def test_a_stream_tells_when_its_first_part_came(watched: Any) -> None:
    agent = watched.agent(create_agent(ScriptedChatModel(["a few words"])))
    list(agent.stream({"messages": "go"}, stream_mode="messages"))
    assert watched.one("chat").attributes["gen_ai.response.time_to_first_chunk"] >= 0


def test_runs_side_by_side_have_traces_of_their_own(watched: Any) -> None:
    agent = watched.agent(create_agent(ScriptedChatModel(["x"] * 8)))
    agent.batch([{"messages": str(n)} for n in range(8)])
    runs = watched.named("invoke_agent")
    assert len({span.context.trace_id for span in runs}) == 8
    assert {watched.parent(span) for span in watched.named("chat")} == {"step"}


def test_without_the_extra_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'interlock\[otel\]'") as caught:
        trace_with_opentelemetry(create_agent(ScriptedChatModel(["x"])))
    assert caught.value.extra == "otel"


async def test_an_asynchronous_stream_has_the_same_spans(calling: Any, watched: Any) -> None:
    model = ScriptedChatModel([calling(("search", {"query": "a"})), "done"])
    agent = watched.agent(create_agent(model, [search], name="desk"))
    async for _ in agent.astream({"messages": "go"}, stream_mode=["updates", "messages"]):
        pass
    assert watched.tree == [
        "invoke_agent desk",
        "  step",
        "    chat",
        "    execute_tool search",
        "  step",
        "    chat",
    ]
