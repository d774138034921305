"""What tests of spans share: an exporter that keeps them, and runs in both modes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from interlock.graph import AgentGraph
from interlock.graph.tracing import trace_with_opentelemetry


@dataclass
class Watched:
    """Spans that ended, and the provider that makes them."""

    exporter: InMemorySpanExporter = field(default_factory=InMemorySpanExporter)
    provider: TracerProvider = field(default_factory=TracerProvider)

    def __post_init__(self) -> None:
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))

    def agent(self, agent: AgentGraph, **options: Any) -> AgentGraph:
        return trace_with_opentelemetry(agent, tracer_provider=self.provider, **options)

    @property
    def spans(self) -> Sequence[ReadableSpan]:
        return sorted(self.exporter.get_finished_spans(), key=lambda span: span.start_time or 0)

    def named(self, start: str) -> list[ReadableSpan]:
        return [span for span in self.spans if span.name.startswith(start)]

    def one(self, start: str) -> ReadableSpan:
        (span,) = self.named(start)
        return span

    def parent(self, span: ReadableSpan) -> str | None:
        """Name of the span around a span."""
        ids = {s.context.span_id: s.name for s in self.spans if s.context is not None}
        return ids[span.parent.span_id] if span.parent is not None else None

    @property
    def tree(self) -> list[str]:
        """Names in the order of their beginning, indented by depth."""
        below: dict[int | None, list[ReadableSpan]] = {}
        for span in self.spans:
            around = span.parent.span_id if span.parent is not None else None
            below.setdefault(around, []).append(span)

        def lines(around: int | None, depth: int) -> list[str]:
            found: list[str] = []
            for span in below.get(around, []):
                assert span.context is not None
                found += ["  " * depth + span.name, *lines(span.context.span_id, depth + 1)]
            return found

        return lines(None, 0)

    @property
    def said(self) -> str:
        """Everything that the spans tell."""
        parts = [
            (
                s.name,
                dict(s.attributes or {}),
                s.status.description,
                [dict(e.attributes or {}) for e in s.events],
            )
            for s in self.spans
        ]
        return repr(parts)


@pytest.fixture
def watched() -> Watched:
    return Watched()
