"""The spans of runs that are under way: where each one hangs, and how it ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast
from uuid import UUID

from langgraph.errors import GraphBubbleUp

from ...middleware.approval.heard import LISTENING, Heard
from . import attributes as named
from .api import Telemetry
from .runs import Kind, Run


class Spans:
    """Begins and ends the spans of runs. Safe for runs in several threads."""

    def __init__(self, telemetry: Telemetry, *, content: bool) -> None:
        self._otel = telemetry
        self._content = content
        self._runs: dict[UUID, Run] = {}

    def get(self, ident: UUID | None) -> Run | None:
        """The run with an id, if it is under way."""
        return None if ident is None else self._runs.get(ident)

    def begin(
        self,
        ident: UUID,
        parent: Run | None,
        kind: Kind,
        name: str,
        metadata: Mapping[str, Any] | None,
    ) -> Run:
        """Remember a run, without a span as yet."""
        context = self._otel.context.get_current()
        run = Run(ident, parent, kind, name, context, metadata or {})
        self._runs[ident] = run
        return run

    def start(
        self,
        run: Run,
        title: str,
        given: Mapping[str, Any],
        *,
        point: str = "",
        attach: bool = True,
        calls_out: bool = False,
    ) -> None:
        """Begin the span of a run.

        Args:
            run: The run.
            title: Name of the span.
            given: Its attributes.
            point: The hook point at which the run begins, of a hook, model or tool.
            attach: Make the span the current one where the run goes on.
            calls_out: The run calls another service.
        """
        around = self._around(run, point)
        context = run.context if around is None else self._otel.inside(around, run.context)
        kinds = self._otel.trace.SpanKind
        run.span = self._otel.tracer.start_span(
            title,
            context,
            kind=kinds.CLIENT if calls_out else kinds.INTERNAL,
            attributes=dict(given),
            start_time=run.began_ns,
        )
        if attach:
            run.attached = True
            self._otel.context.attach(self._otel.inside(run.span, run.context))

    def listen(self, run: Run) -> None:
        """Hear of the decisions that are made in a hook."""
        run.decisions = []
        LISTENING.set(run.decisions)

    def end(self, run: Run, told: Mapping[str, Any]) -> None:
        """End a run that came to its end."""
        self._close(run, told, None)

    def fail(self, run: Run, error: BaseException) -> None:
        """End a run that raised something: a failure, or a signal such as an interrupt."""
        self._close(run, {}, error)

    def _close(self, run: Run, told: Mapping[str, Any], error: BaseException | None) -> None:
        self._runs.pop(run.id, None)
        if run.kind in ("agent", "workflow"):
            # A task that was cancelled may never have said so.
            for other in [r for r in list(self._runs.values()) if run in r.ancestors]:
                self._close(other, {}, error)
        if run.kind == "agent":
            self._tell_pauses(run)
            self._end_step(run, error)
        if run.span is None:
            return
        if run.decisions is not None:
            self._tell_decisions(run, run.decisions)
            LISTENING.set(None)
        run.span.set_attributes(dict(told))
        if isinstance(error, GraphBubbleUp) or run.pauses:
            run.span.set_attribute(named.PAUSED, value=True)
        elif error is not None and not isinstance(error, GeneratorExit):
            self._record(run.span, error)
        run.span.end()
        if run.attached:
            # Without a token: a task that is cancelled ends in a context of its own.
            self._otel.context.attach(run.context)

    def _around(self, run: Run, point: str) -> Any:
        """The span that a new one hangs under; None where the current one is right."""
        for outer in run.ancestors:
            if outer.kind == "agent":
                return self._place(outer, point, run.began_ns)
            if outer.span is not None:
                return outer.span
        return None

    def _place(self, agent: Run, point: str, now_ns: int) -> Any:
        """The agent's span or that of a step, which may begin here."""
        with agent.lock:
            index = agent.steps
            place = index.place(point)
            if place != "step":
                self._end_step_span(agent, None)
            if place == "run":
                index.end()
                return agent.span
            if place == "new step":
                given: dict[str, Any] = {}
                if index.completed is not None:
                    given[named.STEP_INDEX] = index.completed
                context = self._otel.inside(agent.span, agent.context)
                agent.step_span = self._otel.tracer.start_span(
                    "step", context, attributes=given, start_time=now_ns
                )
            return agent.step_span

    def _end_step(self, agent: Run, error: BaseException | None) -> None:
        with agent.lock:
            agent.steps.end()
            self._end_step_span(agent, error)

    def _end_step_span(self, agent: Run, error: BaseException | None) -> None:
        span, agent.step_span = agent.step_span, None
        if span is not None:
            if error is not None and not isinstance(error, (GraphBubbleUp, GeneratorExit)):
                self._record(span, error)
            span.end()

    def _record(self, span: Any, error: BaseException) -> None:
        """Mark a span as failed; what the error says may be what somebody said."""
        kind = type(error)
        name = kind.__qualname__
        if kind.__module__ not in ("builtins", "asyncio.exceptions"):
            name = f"{kind.__module__}.{name}"
        event = {"exception.type": name}
        if self._content:
            event["exception.message"] = str(error)
        span.add_event("exception", event)
        self._otel.failed(span, name, str(error) if self._content else None)

    def _tell_decisions(self, run: Run, decisions: Sequence[Heard]) -> None:
        """A span for each decision of a hook."""
        for heard in decisions:
            given = {named.TOOL_CALL: heard.call_id, named.DECISION: heard.decision}
            self._approval(run.span, heard.tool, given, run.began_ns, heard.at_ns)

    def _tell_pauses(self, agent: Run) -> None:
        """An event for each pause of a run, and a span for each call that waits for approval."""
        outer = agent.agent()
        for pause in agent.pauses:
            if pause.id in agent.told:
                continue
            if outer is not None:
                outer.told.add(pause.id)
            agent.span.add_event("interrupt", {"interlock.interrupt.id": pause.id})
            value: Any = pause.value
            for tool in _tools_asked_about(value):
                around = agent.step_span or agent.span
                self._approval(around, tool, {named.DECISION: "waiting"}, None, None)

    def _approval(
        self,
        around: Any,
        tool: str,
        given: Mapping[str, Any],
        began_ns: int | None,
        ended_ns: int | None,
    ) -> None:
        context = self._otel.inside(around, self._otel.context.get_current())
        given = {named.TOOL_NAME: tool, **given}
        span = self._otel.tracer.start_span(
            f"approval {tool}", context, attributes=given, start_time=began_ns
        )
        span.end(ended_ns)


def _tools_asked_about(value: Any) -> list[str]:
    """Names of the tools whose calls a pause asks about, in the form of approvals."""
    if not isinstance(value, Mapping):
        return []
    requests: Any = cast("Mapping[str, Any]", value).get("action_requests")
    entries = cast("list[Any]", requests) if isinstance(requests, list) else []
    return [str(cast("Any", e).get("name")) for e in entries if isinstance(e, Mapping)]
