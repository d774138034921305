"""What becomes of a call that raised: whether a model reads of it, and what."""

from __future__ import annotations

from typing import Any, cast

from langchain_core.messages import ToolMessage
from langgraph.errors import GraphBubbleUp, is_invalid_resume
from langgraph.prebuilt.tool_node import ToolCallRequest

from ..state.errors import InvalidUpdateError, ToolExecutionError, WouldBlockError
from ..state.fatal import is_fatal
from .error_text import failure_text, strings_in
from .running import RunnableTool


class RaisingRequest(ToolCallRequest):
    """A request of a run that ends when a tool fails: no model reads of the failure."""


def stops_run(error: Exception) -> bool:
    """Whether an error is no failure of the call, and passes whatever failures mean.

    So do a pause, a command for the graph around, a tool that cannot be run in this kind of run, an
    update of the state that is wrong, and a wrong answer to a pause, whose sender is told.
    """
    passes = isinstance(error, (GraphBubbleUp, WouldBlockError, InvalidUpdateError))
    return passes or is_invalid_resume(error)


def failed_text(
    request: ToolCallRequest, error: Exception, tool: RunnableTool | None = None
) -> str:
    """What the model reads of a failure, unless a function of the user says something else.

    Args:
        request: The call.
        error: What it raised.
        tool: The tool of the request, if somebody has it already.
    """
    if isinstance(error, ToolExecutionError):
        return str(error)
    if tool is None and request.tool is not None:
        tool = RunnableTool.of(request.tool)
    secrets: list[str] = []
    if tool is not None and tool.injection.arguments:
        injected = tool.injection.values(request, cast("Any", request.runtime))
        secrets = [t for v in injected.values() for t in strings_in(v)]
    return failure_text(request.tool_call["name"], error, secrets)


def failed_message(request: ToolCallRequest, error: Exception) -> ToolMessage | None:
    """The error result that a failure comes to if no layer around handles it.

    For layers that look at results: a failure passes them as an exception, and becomes a result
    outside of all of them. What such a layer has no objection to it raises again, so that the
    layers around it may handle the failure.

    Args:
        request: The call.
        error: What it raised.

    Returns:
        The result; None if the error ends the run, so that no model reads of it.
    """
    if isinstance(request, RaisingRequest) or is_fatal(error) or stops_run(error):
        return None
    call = request.tool_call
    return ToolMessage(
        failed_text(request, error),
        tool_call_id=call["id"] or "",
        name=call["name"],
        status="error",
    )


def failure_words(message: ToolMessage, error: Exception) -> str:
    """What of a failure a model may come to read, for a look at it.

    That is the result, and the whole text of the error where the result leaves out some of it: a
    layer further out, or a function of the user, may quote it.

    Args:
        message: What :func:`failed_message` gave.
        error: What the call raised.
    """
    shown, said = message.text, str(error)
    return shown if said in shown else f"{shown}\n{said}"
