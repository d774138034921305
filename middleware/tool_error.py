"""What the model is told of a failed tool call, decided by a function."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langgraph.errors import GraphBubbleUp
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command, TracePolicy, omit_payload

from ..state.errors import ConfigurationError, InvalidUpdateError, WouldBlockError
from ..state.fatal import fatal
from ..tools.calls import Dual
from .base import AgentMiddleware
from .flows import Ask, Flow, flow_layer
from .tool_filter import concerns, error_answer, tool_names

Content = str | list[Any]
OnError = Callable[[Exception, ToolCallRequest], Content | None]
AOnError = Callable[[Exception, ToolCallRequest], Awaitable[Content | None]]


class ToolErrorMiddleware(AgentMiddleware[Any, Any, Any]):
    """Lets a function say what the model reads of a failed tool call, or that the run ends.

    An agent already tells the model of failures (``on_tool_error``). This is for saying it
    yourself, per error or per tool: return a text that names the kind of failure rather than the
    error's own words, which may hold what the model should not read. For an error that the
    function returns None for, the run ends, whatever ``on_tool_error`` says.

    It does not cover: arguments that do not fit and unknown tools, which the model is told of
    before anything runs; errors that a tool returns instead of raising. It does not try again:
    list ``ToolRetryMiddleware`` after it, with ``on_failure="error"``.
    """

    trace_policy = TracePolicy(process_inputs=omit_payload)

    def __init__(
        self,
        on_error: OnError | None = None,
        *,
        aon_error: AOnError | None = None,
        tools: Sequence[BaseTool | str] | None = None,
    ) -> None:
        """Give the function.

        Args:
            on_error: ``(error, request)`` returns what the model reads, or None to end the run.
            aon_error: The same as ``async def``, preferred in an asynchronous run.
            tools: Tools or their names; all if None.

        Raises:
            ConfigurationError: No function is given, or ``tools`` is no list of tools.
        """
        if on_error is None and aon_error is None:
            msg = "ToolErrorMiddleware needs on_error or aon_error; give a function of the error."
            raise ConfigurationError(msg)
        # Not under the name on_error, which is a hook of every middleware.
        self._handle = Dual("on_error", on_error, aon_error)
        self._tool_filter = tool_names(tools)

    def _flow(self, request: ToolCallRequest) -> Flow[ToolMessage | Command[Any]] | None:
        """Run the tool and ask the function if it fails."""
        if not concerns(request, self._tool_filter):
            return None
        return self._guarded(request)

    wrap_tool_call, awrap_tool_call = flow_layer(_flow)

    def _guarded(self, request: ToolCallRequest) -> Flow[Any]:
        try:
            return (yield request)
        except (GraphBubbleUp, WouldBlockError, InvalidUpdateError):
            raise
        except Exception as error:
            content = yield Ask(self._handle, (error, request))
            if content is None:
                fatal(error)
                raise
            return error_answer(request, content)
