"""How the spans of a run end: by a pause, a failure, a cancellation, or a stream left unread."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from opentelemetry.trace import StatusCode

from interlock.graph import agent_tool, create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.graph.tracing import OpenTelemetryCallback
from interlock.middleware import (
    HumanInTheLoopMiddleware,
    ModelRetryMiddleware,
)
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


async def test_a_pause_is_no_error_and_its_approval_waits(
    run: Any, calling: Any, thread: Any, watched: Any
) -> None:
    model = ScriptedChatModel([calling(("search", {"query": "a"})), "done"])
    review = HumanInTheLoopMiddleware({"search": True})
    plain = create_agent(model, [search], middleware=[review], checkpointer=InMemorySaver())
    agent = watched.agent(plain)
    await run(agent, {"messages": "go"}, thread)
    (asked,) = agent.get_state(thread).interrupts
    paused = watched.one("invoke_agent")
    assert paused.attributes["interlock.paused"] is True
    assert [e.attributes["interlock.interrupt.id"] for e in paused.events] == [asked.id]
    waiting = watched.one("approval search")
    assert waiting.attributes["interlock.approval.decision"] == "waiting"
    assert watched.parent(waiting) == "step"
    assert {s.status.status_code for s in watched.spans} == {StatusCode.UNSET}
    watched.exporter.clear()
    answer = {"decisions": [{"type": "approve"}]}
    await run(agent, Command(resume={asked.id: answer}), thread)
    approval = watched.one("approval search")
    assert approval.attributes["interlock.approval.decision"] == "approve"
    assert approval.attributes["gen_ai.tool.call.id"] == "c1"
    assert watched.parent(approval) == "hook HumanInTheLoopMiddleware.before_tools"
    assert [s.attributes["interlock.step.index"] for s in watched.named("step")] == [0, 1]
    assert "interlock.paused" not in watched.one("invoke_agent").attributes


async def test_a_failed_model_marks_everything_it_ends(run: Any, watched: Any) -> None:
    agent = watched.agent(create_agent(ScriptedChatModel([OSError(PRIVATE)])))
    with pytest.raises(OSError, match=PRIVATE):
        await run(agent, {"messages": "go"})
    for name in ("invoke_agent", "step", "chat"):
        span = watched.one(name)
        assert span.status.status_code is StatusCode.ERROR
        assert span.attributes["error.type"] == "OSError"
        assert [dict(e.attributes) for e in span.events] == [{"exception.type": "OSError"}]
    assert PRIVATE not in watched.said


async def test_each_attempt_of_a_retry_is_a_call_of_its_own(run: Any, watched: Any) -> None:
    model = ScriptedChatModel([OSError("x"), "fine"])
    retry = ModelRetryMiddleware(initial_delay=0)
    await run(watched.agent(create_agent(model, middleware=[retry])), {"messages": "go"})
    one, two = watched.named("chat")
    assert (one.status.status_code, two.status.status_code) == (StatusCode.ERROR, StatusCode.UNSET)
    assert watched.parent(one) == watched.parent(two) == "hook ModelRetryMiddleware.wrap_model_call"
    assert len(watched.named("step")) == 1


@pytest.mark.parametrize("durable", [False, True])
async def test_finished_runs_leave_nothing_behind(
    run: Any, calling: Any, thread: Any, watched: Any, durable: bool
) -> None:
    callback = OpenTelemetryCallback(watched.provider)
    options: Any = {"checkpointer": InMemorySaver()} if durable else {}
    calls = calling(("search", {"query": "a"}), ("fail", {"query": "b"}))
    agent = create_agent(ScriptedChatModel([calls, "done"]), [search, fail], **options)
    await run(agent, {"messages": "go"}, {**thread, "callbacks": [callback]})
    assert vars(vars(callback)["_spans"])["_runs"] == {}


async def test_a_cancelled_run_ends_all_its_spans(watched: Any, calling: Any) -> None:
    began = asyncio.Event()

    @tool
    async def wait(query: str) -> str:
        """Wait for ever."""
        began.set()
        await asyncio.Event().wait()
        return query

    model = ScriptedChatModel([calling(("wait", {"query": "a"}))])
    agent = watched.agent(create_agent(model, [wait]))
    task = asyncio.create_task(agent.ainvoke({"messages": "go"}))
    await began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert watched.tree == ["invoke_agent", "  step", "    chat", "    execute_tool wait"]
    assert watched.one("invoke_agent").attributes["error.type"] == "CancelledError"


async def test_a_pause_of_an_inner_agent_waits_once_and_goes_on_below_its_tool(
    run: Any, calling: Any, thread: Any, watched: Any
) -> None:
    review = HumanInTheLoopMiddleware({"search": True})
    inner_model = ScriptedChatModel([calling(("search", {"query": "a"})), "found"])
    inner = create_agent(inner_model, [search], middleware=[review], name="expert")
    ask = agent_tool(inner, description="Ask the expert.")
    model = ScriptedChatModel([calling((ask.name, {"task": "?"}), start=7), "done"])
    agent = watched.agent(create_agent(model, [ask], name="desk", checkpointer=InMemorySaver()))
    await run(agent, {"messages": "go"}, thread)
    waiting = watched.one("approval search")
    assert waiting.attributes["interlock.approval.decision"] == "waiting"
    paused = [s for s in watched.named("invoke_agent") if s.attributes.get("interlock.paused")]
    assert {span.name for span in paused} == {"invoke_agent desk", "invoke_agent expert"}
    assert {s.status.status_code for s in watched.spans} == {StatusCode.UNSET}
    watched.exporter.clear()
    (asked,) = agent.pending(thread)
    agent.answer({asked.id: {"type": "approve"}}, thread)
    assert watched.one("approval search").attributes["interlock.approval.decision"] == "approve"
    assert watched.parent(watched.one("invoke_agent expert")) == f"execute_tool {ask.name}"
    assert [s.name for s in watched.spans if s.status.status_code is not StatusCode.UNSET] == []


def test_a_stream_that_nobody_reads_on_ends_its_spans(calling: Any, watched: Any) -> None:
    model = ScriptedChatModel([calling(("search", {"query": "a"})), "done"])
    stream = watched.agent(create_agent(model, [search])).stream({"messages": "go"})
    next(stream)
    stream.close()
    assert [s.status.status_code for s in watched.named("invoke_agent")] == [StatusCode.UNSET]
    assert len(watched.named("step")) == 1
