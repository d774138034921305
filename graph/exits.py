"""What ends a run: the exit conditions and limits of an agent, checked when it is built."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from ..state.errors import ConfigurationError
from ..state.exit_reasons import EXIT_REASONS, EXIT_TEXT
from ..tools.definition import ToolSet


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
        options: Settings: ``exit_conditions``, the limits and ``final_answer``.
        open_ended: Tools may come that nobody knows yet, so a condition that names none of the
            known ones is only warned about.

    Raises:
        ConfigurationError: A condition names no tool, or a limit is no whole number above 0.
    """
    names = _conditions(options["exit_conditions"])
    for name in names:
        _check_condition(name, [EXIT_TEXT, *tools.by_name], open_ended=open_ended)
    final = options["final_answer"]
    if not isinstance(final, bool):
        msg = f"final_answer is {final!r}; give True or False."
        raise ConfigurationError(msg)
    budget = options["max_tokens_total"]
    return ExitRules(
        tools=frozenset(names) - {EXIT_TEXT},
        text=EXIT_TEXT in names,
        max_steps=_limit("max_agent_steps", options["max_agent_steps"]),
        max_tokens_total=None if budget is None else _limit("max_tokens_total", budget),
        final_answer=final,
        calls_tools=bool(tools.by_name) or open_ended,
    )


def _conditions(given: Any) -> list[str]:
    if given is None:
        return [EXIT_TEXT]
    if isinstance(given, (str, bytes)) or not isinstance(given, (Sequence, frozenset, set)):
        msg = f"exit_conditions is {given!r}; give a list such as ['text', 'save_result']."
        raise ConfigurationError(msg)
    names: list[Any] = list(given)  # pyright: ignore[reportUnknownArgumentType]
    if not names:
        msg = "exit_conditions is empty, so no reply would end a run; leave it out for ['text']."
        raise ConfigurationError(msg)
    return names


def _check_condition(name: Any, known: Sequence[str], *, open_ended: bool) -> None:
    if not isinstance(name, str) or not name:
        msg = f"Exit condition {name!r} is no name; give 'text' or the name of a tool."
        raise ConfigurationError(msg)
    if name in EXIT_REASONS and name != EXIT_TEXT:
        msg = (
            f"Exit condition {name!r} is an exit reason of its own, which a tool of that name "
            "could not be told from; rename the tool."
        )
        raise ConfigurationError(msg)
    if name in known:
        return
    close = get_close_matches(name, known, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    msg = f"Exit condition {name!r} names no tool; known are {', '.join(known)}.{hint}"
    if not open_ended:
        raise ConfigurationError(msg)
    warnings.warn(f"{msg} It counts once there is such a tool.", UserWarning, stacklevel=4)


def _limit(setting: str, value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return value
    msg = f"{setting} is {value!r}; it must be a whole number, at least 1."
    raise ConfigurationError(msg)
