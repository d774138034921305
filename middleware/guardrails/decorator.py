"""The decorator that makes a guardrail of a check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...state.errors import ConfigurationError
from ..base import AgentMiddleware
from .check import Check, GuardedCheck, Surface
from .input import InputGuardrail
from .output import OutputGuardrail
from .parallel import ParallelInputGuardrail
from .tool_call import ToolCallGuardrail
from .tool_result import ToolResultGuardrail

_KINDS: dict[str, Callable[[str, GuardedCheck], AgentMiddleware]] = {
    "input": InputGuardrail,
    "output": OutputGuardrail,
    "tool_call": ToolCallGuardrail,
    "tool_result": ToolResultGuardrail,
}


def guardrail(
    on: Surface,
    *,
    parallel: bool = False,
    timeout_s: float | None = None,
    name: str | None = None,
) -> Callable[[Check], AgentMiddleware[Any, Any, Any]]:
    """Make a middleware of a function that checks one kind of value.

    The function takes the text of a user's message (``input``), of a reply (``output``) or of a
    tool's result (``tool_result``), or the call itself (``tool_call``), and returns a verdict:
    :func:`allow`, :func:`revise`, :func:`block` or :func:`ask`. None and True allow, False blocks,
    an exception and a timeout block.

    Args:
        on: What is checked.
        parallel: Check the input while the model already works on it.
        timeout_s: Longest time of a check, in seconds.
        name: Name of the guardrail, which is also the exit reason of a blocked run; by default
            that of the function.

    Raises:
        ConfigurationError: There is no such surface, or it cannot be checked in parallel.
    """
    if on not in _KINDS:
        msg = f"A guardrail checks {', '.join(map(repr, _KINDS))}, not {on!r}."
        raise ConfigurationError(msg)
    if parallel and on != "input":
        msg = f"Only the input can be checked in parallel, not {on!r}."
        raise ConfigurationError(msg)

    def decorate(check: Check) -> AgentMiddleware[Any, Any, Any]:
        title = name or str(getattr(check, "__name__", type(check).__name__))
        guarded = GuardedCheck.of(check, title, timeout_s, on)
        kind = ParallelInputGuardrail if parallel else _KINDS[on]
        return kind(title, guarded)

    return decorate
