"""A langchain-core callback handler that makes OpenTelemetry spans of what it is told."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, cast
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage
from langchain_core.outputs import LLMResult
from langgraph.errors import GraphInterrupt

from . import attributes as named
from .api import Telemetry
from .content import as_json, instructions_json, messages_json
from .runs import Run, kind_of_chain, kind_of_graph
from .spans import Spans


class OpenTelemetryCallback(BaseCallbackHandler):
    """Makes a span of each run, step, model call, tool call, hook and approval of an agent.

    Give it to a run, ``config={"callbacks": [OpenTelemetryCallback()]}``, or to an agent, see
    :func:`~interlock.graph.tracing.trace_with_opentelemetry`. Spans nest as the work does, also
    where tools run side by side and agents run in tools; the outermost is a child of the span
    that is current where the run begins. Code of tools, hooks and models finds its span current.

    Names, counts, ids, settings of the model, exit reasons and kinds of errors are recorded.
    What was said, arguments, results and texts of errors are recorded with ``content=True``
    only. One instance may serve any number of runs at the same time.
    """

    # In another thread it could not make its span the current one.
    run_inline = True

    def __init__(
        self,
        tracer_provider: Any = None,
        *,
        content: bool = False,
        about: Mapping[str, Any] | None = None,
    ) -> None:
        """Prepare for spans.

        Args:
            tracer_provider: Where spans go; OpenTelemetry's global provider if None.
            content: Record what was said as well.
            about: Further attributes of the outermost agent's span.

        Raises:
            MissingExtraError: OpenTelemetry is not installed.
        """
        self._spans = Spans(Telemetry.load(tracer_provider), content=content)
        self._content = content
        self._about = dict(about or {})

    def on_chain_start(
        self,
        serialized: dict[str, Any] | None,  # noqa: ARG002 - langchain-core's signature
        inputs: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """A graph, a node, a hook or anything else begins."""
        spans = self._spans
        parent = spans.get(parent_run_id)
        name = str(kwargs.get("name") or "")
        kind = kind_of_chain(name, parent, tags, metadata)
        run = spans.begin(run_id, parent, kind, name, metadata)
        if kind == "node" and parent is not None:
            if parent.kind == "chain":
                self._promote(parent, name)
            _take_count(parent, inputs)
        elif kind == "hook":
            given = {named.HOOK_NAME: name.rpartition(".")[0], named.HOOK_POINT: run.point}
            spans.start(run, f"hook {name}", given, point=run.point)
            spans.listen(run)
        elif self._content:
            run.inputs = inputs

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **_: Any) -> None:
        """It ended."""
        run = self._spans.get(run_id)
        if run is None:
            return
        result = named.of_result(outputs) if run.kind == "agent" else {}
        if run.kind == "agent" and self._content and isinstance(outputs, Mapping):
            last: Any = cast("Mapping[str, Any]", outputs).get("last_message")
            if isinstance(last, BaseMessage):
                result[named.OUTPUT_MESSAGES] = messages_json([last])
        self._spans.end(run, result)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        """It failed, or pauses the run."""
        run = self._spans.get(run_id)
        if run is None:
            return
        parent = run.parent
        if run.kind == "node" and parent is not None and isinstance(error, GraphInterrupt):
            parent.pauses += error.args[0] if error.args else ()
        self._spans.fail(run, error)

    def on_chat_model_start(
        self,
        serialized: dict[str, Any] | None,  # noqa: ARG002 - langchain-core's signature
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,  # noqa: ARG002 - langchain-core's signature
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """A model is asked."""
        params: Mapping[str, Any] = kwargs.get("invocation_params") or {}
        given = named.of_request(metadata or {}, params)
        if self._content:
            asked = [m for row in messages for m in row]
            given[named.INPUT_MESSAGES] = messages_json(asked)
            if (system := instructions_json(asked)) is not None:
                given[named.SYSTEM] = system
            if tools := params.get("tools"):
                given[named.TOOL_DEFINITIONS] = as_json(tools)
        run = self._spans.begin(run_id, self._spans.get(parent_run_id), "model", "chat", metadata)
        title = f"chat {given.get(named.REQUEST_MODEL, '')}".strip()
        self._spans.start(run, title, given, point="wrap_model_call", calls_out=True)

    def on_llm_new_token(self, token: Any, *, run_id: UUID, **_: Any) -> None:  # noqa: ARG002
        """A part of a reply came."""
        run = self._spans.get(run_id)
        if run is not None and run.span is not None and not run.first_chunk:
            run.first_chunk = True
            run.span.set_attribute(named.FIRST_CHUNK, (time.time_ns() - run.began_ns) / 1e9)

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: Any) -> None:
        """A model replied."""
        run, reply = self._spans.get(run_id), named.reply_of(response)
        if run is None:
            return
        told = named.of_reply(reply) if reply is not None else {}
        if reply is not None and self._content:
            told[named.OUTPUT_MESSAGES] = messages_json([reply])
        self._spans.end(run, told)

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        """A model failed."""
        if (run := self._spans.get(run_id)) is not None:
            self._spans.fail(run, error)

    def on_tool_start(
        self,
        serialized: dict[str, Any] | None,
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,  # noqa: ARG002 - langchain-core's signature
        metadata: dict[str, Any] | None = None,
        inputs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """A tool is called."""
        given = named.of_tool(serialized, kwargs.get("tool_call_id"))
        if self._content:
            given[named.TOOL_ARGUMENTS] = as_json(inputs) if inputs is not None else input_str
        name = str(given[named.TOOL_NAME])
        run = self._spans.begin(run_id, self._spans.get(parent_run_id), "tool", name, metadata)
        self._spans.start(run, f"execute_tool {name}", given, point="wrap_tool_call")

    def on_tool_end(self, output: Any, *, run_id: UUID, **_: Any) -> None:
        """A tool answered."""
        if (run := self._spans.get(run_id)) is not None:
            result = as_json(getattr(output, "content", output)) if self._content else None
            self._spans.end(run, {} if result is None else {named.TOOL_RESULT: result})

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        """A tool failed, or pauses the run."""
        if (run := self._spans.get(run_id)) is not None:
            self._spans.fail(run, error)

    def _promote(self, run: Run, node: str) -> None:
        """A chain turns out to be a graph: by its first node."""
        run.kind = kind_of_graph(node)
        name = "" if run.name == "LangGraph" else run.name
        given: dict[str, Any] = {}
        if thread := run.metadata.get("thread_id"):
            given[named.CONVERSATION] = str(thread)
        if run.kind == "agent":
            given |= {named.OPERATION: "invoke_agent"}
            given |= {named.AGENT: name} if name else {}
            given |= {} if run.agent() is not None else self._about
            given |= self._given_messages(run.inputs)
        else:
            given |= {named.OPERATION: "invoke_workflow"}
            given |= {named.WORKFLOW: name} if name else {}
        self._spans.start(run, f"{given[named.OPERATION]} {name}".strip(), given, attach=False)

    def _given_messages(self, inputs: Any) -> dict[str, Any]:
        if not self._content or not isinstance(inputs, Mapping):
            return {}
        given: Any = cast("Mapping[str, Any]", inputs).get("messages")
        entries = cast("Sequence[Any]", given) if isinstance(given, list) else [given]
        messages = [entry for entry in entries if isinstance(entry, BaseMessage)]
        return {named.INPUT_MESSAGES: messages_json(messages)} if messages else {}


def _take_count(agent: Run, inputs: Any) -> None:
    """Learn from a node's input how many steps are complete; a resumed run begins in the middle."""
    if agent.steps.open or not isinstance(inputs, Mapping):
        return
    values = cast("Mapping[str, Any]", inputs)
    ledger: Any = values.get("run_ledger")
    if isinstance(ledger, Mapping):
        agent.steps.completed = cast("Mapping[str, Any]", ledger).get("step_count", 0)
    elif "tool_call" in values:
        agent.steps.completed = None
