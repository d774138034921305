"""What somebody who listens sees of hooks and layers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tracers import BaseTracer, Run
from langchain_core.tracers.schemas import Run as TracedRun
from langgraph.types import TracePolicy, omit_payload

from interlock.graph import create_agent
from interlock.middleware import AgentMiddleware, configure_trace_policy
from interlock.tools import tool


class Tracer(BaseTracer):
    """Keeps the runs as a tree."""

    def __init__(self) -> None:
        super().__init__()
        self.root: TracedRun | None = None

    def _persist_run(self, run: Run) -> None:
        self.root = run

    def tree(self) -> list[str]:
        """Names of all runs but the models', indented by depth."""

        def walk(run: Any, depth: int) -> Iterator[str]:
            yield "  " * depth + run.name
            for child in run.child_runs:
                yield from walk(child, depth + 1)

        assert self.root is not None
        return list(walk(self.root, 0))

    def named(self, name: str) -> Any:
        """The first run of a name."""

        def walk(run: Any) -> Iterator[Any]:
            yield run
            for child in run.child_runs:
                yield from walk(child)

        return next(run for run in walk(self.root) if run.name == name)


@tool
def work() -> str:
    """Work."""
    return "worked"


class Busy(AgentMiddleware):
    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def before_model(self, state: Any, runtime: Any) -> Any:  # noqa: ARG002
        self.inner.invoke("inner question")

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        return handler(request)

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        return await handler(request)

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        return handler(request)

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        return await handler(request)

    def after_agent(self, state: Any, runtime: Any) -> Any:  # noqa: ARG002
        return {"messages": [AIMessage("signed")]}


async def test_each_hook_and_layer_is_a_run_with_its_children(
    run: Any, scripted: Any, calling: Any
) -> None:
    tracer = Tracer()
    model = scripted(calling(("work", {})), "done")
    agent = create_agent(model, [work], middleware=[Busy(scripted("inner"))])
    await run(agent, {"messages": "go"}, {"callbacks": [tracer]})
    turn = [
        "  model",
        "    Busy.before_model",
        "      Scripted",
        "    Busy.wrap_model_call",
        "      Scripted",
    ]
    assert tracer.tree() == [
        "LangGraph",
        *turn,
        "  tools",
        "    Busy.wrap_tool_call",
        "      work",
        *turn,
        "  end",
        "    Busy.after_agent",
    ]


async def test_a_hooks_run_holds_its_update(run: Any, scripted: Any) -> None:
    tracer = Tracer()
    agent = create_agent(scripted("done"), [], middleware=[Busy(scripted("inner"))])
    await run(agent, {"messages": "go"}, {"callbacks": [tracer]})
    recorded = tracer.named("Busy.after_agent")
    assert recorded.outputs["messages"][0].text == "signed"
    assert [m.text for m in recorded.inputs["messages"]] == ["go", "done"]


def test_tokens_of_a_model_inside_a_hook_carry_the_hooks_name(scripted: Any) -> None:
    agent = create_agent(scripted("outer"), [], middleware=[Busy(scripted("inner"))])
    said = [
        (chunk.text, metadata["langgraph_node"])
        for chunk, metadata in agent.stream({"messages": "go"}, stream_mode="messages")
    ]
    assert ("inner", "Busy.before_model") in said
    assert ("outer", "model") in said
    assert ("signed", "Busy.after_agent") in said


def test_updates_say_which_hook_contributed(scripted: Any) -> None:
    agent = create_agent(scripted("done"), [], middleware=[Busy(scripted("inner"))])
    *_, last = agent.stream({"messages": "go"}, stream_mode="updates")
    assert last["end"]["updated_by"] == {"Busy.after_agent": ["messages"]}


@pytest.fixture
def nothing_recorded() -> Iterator[None]:
    """A process in which hooks record no input."""
    configure_trace_policy(TracePolicy(process_inputs=omit_payload))
    yield
    configure_trace_policy(None)


@pytest.mark.usefixtures("nothing_recorded")
async def test_what_is_recorded_can_be_set_for_all_and_for_one(run: Any, scripted: Any) -> None:
    class Own(AgentMiddleware):
        trace_policy = TracePolicy(process_outputs=omit_payload)

        def before_model(self, state: Any, runtime: Any) -> Any:
            """Do nothing."""

    tracer = Tracer()
    agent = create_agent(scripted("done"), [], middleware=[Own(), Busy(scripted("inner"))])
    await run(agent, {"messages": "go"}, {"callbacks": [tracer]})
    assert tracer.named("Busy.before_model").inputs == {}
    assert "messages" in tracer.named("Own.before_model").inputs


async def test_a_failing_hook_fails_its_run(run: Any, scripted: Any) -> None:
    class Broken(AgentMiddleware):
        def before_model(self, state: Any, runtime: Any) -> Any:  # noqa: ARG002
            msg = "no"
            raise LookupError(msg)

    tracer = Tracer()
    with pytest.raises(LookupError):
        await run(
            create_agent(scripted("x"), [], middleware=[Broken()]),
            {"messages": "go"},
            {"callbacks": [tracer]},
        )
    assert "no" in tracer.named("Broken.before_model").error


class Watching(AgentMiddleware):
    def before_model(self, state: Any, runtime: Any) -> Any: ...

    def after_model(self, state: Any, runtime: Any) -> Any: ...


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_whole_reply_is_streamed_although_a_hook_saw_it_first(
    scripted: Any, calling: Any, asynchronous: bool
) -> None:
    agent = create_agent(scripted(calling(("work", {})), "done"), [work], middleware=[Watching()])
    value: Any = {"messages": "go"}
    config: Any = {"callbacks": [Tracer()]}
    if asynchronous:
        chunks = [c async for c in agent.astream(value, config, stream_mode="messages")]
    else:
        chunks = list(agent.stream(value, config, stream_mode="messages"))
    assert [(m.type, m.text) for m, _ in chunks] == [("ai", ""), ("tool", "worked"), ("ai", "done")]


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_reply_that_no_model_gave_is_streamed_although_a_hook_saw_it_first(
    scripted: Any, asynchronous: bool
) -> None:
    class Answering(AgentMiddleware):
        def wrap_model_call(self, request: Any, handler: Any) -> Any:  # noqa: ARG002
            return AIMessage("from the cache", id="r1")

    agent = create_agent(scripted("x"), middleware=[Watching(), Answering()])
    value = {"messages": "go"}
    if asynchronous:
        chunks = [c async for c in agent.astream(value, stream_mode="messages")]
    else:
        chunks = list(agent.stream(value, stream_mode="messages"))
    assert [m.text for m, _ in chunks] == ["from the cache"]


def test_a_hook_that_returns_the_whole_state_streams_nothing_twice(scripted: Any) -> None:
    class Returning(AgentMiddleware):
        def after_model(self, state: Any, runtime: Any) -> Any:  # noqa: ARG002
            return {"messages": state["messages"]}

    agent = create_agent(scripted("done"), middleware=[Returning()])
    chunks = list(agent.stream({"messages": "go"}, stream_mode="messages"))
    assert [m.text for m, _ in chunks] == ["done"]
