"""OpenTelemetry's API, imported when somebody wants spans and not before."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from ...state.errors import MissingExtraError


@dataclass(frozen=True)
class Telemetry:
    """The parts of the API that spans are made with."""

    tracer: Any
    trace: Any
    """The module ``opentelemetry.trace``."""
    context: Any
    """The module ``opentelemetry.context``."""

    @classmethod
    def load(cls, tracer_provider: Any = None) -> Telemetry:
        """Import the API and make a tracer.

        Args:
            tracer_provider: Where spans go; the global provider if None.

        Raises:
            MissingExtraError: OpenTelemetry is not installed.
        """
        try:
            from opentelemetry import context, trace  # noqa: PLC0415 - an extra
        except ImportError as error:
            msg = "Spans need OpenTelemetry; pip install 'interlock[otel]'."
            raise MissingExtraError(msg, extra="otel") from error
        tracer = trace.get_tracer("interlock", version("interlock"), tracer_provider)
        return cls(tracer, trace, context)

    def inside(self, span: Any, context: Any) -> Any:
        """The context in which a span is the current one."""
        return self.trace.set_span_in_context(span, context)

    def failed(self, span: Any, name: str, description: str | None) -> None:
        """Mark a span as that of a failure."""
        code = self.trace.StatusCode.ERROR
        span.set_status(self.trace.Status(code, description or name))
        span.set_attribute("error.type", name)
