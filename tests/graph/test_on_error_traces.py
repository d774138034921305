"""Callbacks, traces and token streams of ``on_error`` hooks."""

from __future__ import annotations

from typing import Any

from langchain_core.tracers import BaseTracer

from interlock.graph import create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import AgentMiddleware

GO: Any = {"messages": "go"}


class Mine(AgentMiddleware[Any, Any, Any]):
    def on_error(self, error: Exception, state: Any, runtime: Any) -> Any:  # noqa: ARG002
        return {"messages": [ScriptedChatModel(["inner"]).invoke(str(error))]}


class Tracer(BaseTracer):
    root: Any = None

    def _persist_run(self, run: Any) -> None:
        self.root = run


async def test_each_hook_is_a_traced_run_of_its_name(run: Any, stored: Any, thread: Any) -> None:
    tracer = Tracer()
    agent = create_agent(ScriptedChatModel([OSError("down")]), [], middleware=[Mine()], **stored)
    await run(agent, GO, {**thread, "callbacks": [tracer]})
    node = tracer.root.child_runs[0]
    assert [child.name for child in node.child_runs][-1] == "Mine.on_error"


def test_tokens_of_a_model_that_a_hook_asks_carry_its_name() -> None:
    agent = create_agent(ScriptedChatModel([OSError("down")]), [], middleware=[Mine()])
    seen = {m["langgraph_node"] for c, m in agent.stream(GO, stream_mode="messages") if c.text}
    assert seen == {"Mine.on_error"}
