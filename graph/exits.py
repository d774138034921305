"""What ends a run: the exit conditions and limits of an agent, checked when it is built."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from ..state.errors import ConfigurationError
from ..tools.definition import ToolSet

TEXT = "text"
"""The exit condition that a reply without tool calls meets."""


@dataclass(frozen=True)
class ExitRules:
    """What ends a run: fixed when the agent is built."""

    tools: frozenset[str] = frozenset()
    """Exit tools: a run ends after one of them succeeded."""
    text: bool = True
    """A reply in text ends the run."""
    max_steps: int = 100
    max_tokens_total: int | None = None
    final_answer: bool = False
    """At the step limit the model is asked once more, without tools."""
    calls_tools: bool = True
    """There is something that a call could run."""


def exit_rules(tools: ToolSet, options: Mapping[str, Any], *, open_ended: bool) -> ExitRules:
    """Check exit conditions against the tools, and the limits.

    Args:
        tools: The agent's tools.
        options: Settings: ``exit_conditions`` and the limits.
        open_ended: Layers around calls may run tools that nobody knows yet.

    Raises:
        ConfigurationError: A condition names no tool, or a limit is below 1.
    """
    for setting in ("max_agent_steps", "max_tokens_total"):
        value = options[setting]
        if value is not None and (isinstance(value, bool) or value < 1):
            msg = f"{setting} is {value!r}; it must be at least 1."
            raise ConfigurationError(msg)
    conditions = options["exit_conditions"]
    names: list[str] = [TEXT] if conditions is None else list(conditions)
    known = [TEXT, *tools.by_name]
    for condition in names:
        if condition not in known and not open_ended:
            close = get_close_matches(condition, known, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            msg = f"Exit condition {condition!r} names no tool; known are {', '.join(known)}.{hint}"
            raise ConfigurationError(msg)
    return ExitRules(
        tools=frozenset(names) - {TEXT},
        text=TEXT in names,
        max_steps=options["max_agent_steps"],
        max_tokens_total=options["max_tokens_total"],
        final_answer=options["final_answer"],
        calls_tools=bool(tools.by_name) or open_ended,
    )
