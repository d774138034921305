"""Guardrails on the calls a model makes and on what tools bring back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from langchain_core.messages import ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from ...tools.calls import AWAITING, BLOCKING, Calls, run_inline
from .named import CheckedMiddleware

Result = ToolMessage | Command[Any]
Handler = Callable[[ToolCallRequest], Awaitable[Result]]


class ToolGuardrail(CheckedMiddleware):
    """What the two guardrails around tool calls share."""

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Result]
    ) -> Result:
        """Check around a call."""

        async def run(changed: ToolCallRequest) -> Result:
            return handler(changed)

        return run_inline(self._guard(BLOCKING, request, run))

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Handler) -> Result:
        """Check around a call on the event loop."""
        return await self._guard(AWAITING, request, handler)

    async def _guard(self, calls: Calls, request: ToolCallRequest, run: Handler) -> Result:
        raise NotImplementedError

    def _refused(self, request: ToolCallRequest, text: str) -> ToolMessage:
        call = request.tool_call
        return ToolMessage(text, tool_call_id=str(call["id"]), name=call["name"], status="error")


class ToolCallGuardrail(ToolGuardrail):
    """Checks each call, ``{"name", "args", "id"}``, before it is run; ``revise`` gives arguments."""

    async def _guard(self, calls: Calls, request: ToolCallRequest, run: Handler) -> Result:
        verdict = await self._check.run(calls, request.tool_call)
        if verdict.kind == "block":
            return self._refused(request, verdict.reason)
        if verdict.kind == "revise":
            request = request.override(tool_call={**request.tool_call, "args": verdict.value})
        return await run(request)


class ToolResultGuardrail(ToolGuardrail):
    """Checks the text of each tool result before the model reads it.

    State updates that a tool makes with a ``Command`` are not checked.
    """

    async def _guard(self, calls: Calls, request: ToolCallRequest, run: Handler) -> Result:
        result = await run(request)
        if not isinstance(result, ToolMessage):
            return result
        verdict = await self._check.run(calls, result.text)
        if verdict.kind == "block":
            return self._refused(request, verdict.reason)
        if verdict.kind == "revise":
            return result.model_copy(update={"content": verdict.value, "artifact": None})
        return result
