"""OpenTelemetry: the spans of a run, its steps, model and tool calls, hooks and approvals.

Open ``callback.py`` first. ``runs.py`` keeps what is under way, ``steps.py`` finds where a step
begins, ``attributes.py`` and ``content.py`` say in GenAI terms what happened.
"""

from __future__ import annotations

from .agent import trace_with_opentelemetry
from .callback import OpenTelemetryCallback

__all__ = ["OpenTelemetryCallback", "trace_with_opentelemetry"]
