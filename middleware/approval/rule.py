"""Which tools are reviewed, and how: the rules of one middleware, looked up by tool name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, cast

from ...state.errors import ConfigurationError
from .decision import DECISION_TYPES, DecisionType
from .policy import AlwaysAskPolicy, ConfirmationPolicy
from .wording import NoticeWording, Wording

WILDCARD = "*"
"""The key for every tool that has no key of its own."""

ToolKey = str | tuple[str, ...]
"""A tool's name, the names of several tools, or the wildcard."""

Describe = Callable[..., str]
"""``(tool_call, state, runtime) -> str``"""


@dataclass(frozen=True)
class Rule:
    """How the calls of some tools are reviewed."""

    allowed: tuple[DecisionType, ...] = DECISION_TYPES
    """What a reviewer may decide."""
    policy: ConfirmationPolicy = field(default_factory=AlwaysAskPolicy)
    """When a person is asked."""
    strategy: Any = None
    """Who asks, at once and in this process; None pauses the run until an answer comes."""
    description: str | Describe | None = None
    """What the reviewer reads, or a function that writes it."""
    args_schema: Mapping[str, Any] | None = None
    """Shown to the reviewer beside the call; what counts is the tool's own schema."""
    wording: Wording = field(default_factory=NoticeWording)


class RuleBook:
    """Rules by tool name. A tool's own key goes before a tuple, a tuple before the wildcard."""

    def __init__(self, rules: Mapping[ToolKey, Rule | None]) -> None:
        """Keep the rules; None exempts a tool from a wider rule.

        Raises:
            ConfigurationError: A key is no name, is empty, or two keys name one tool.
        """
        self._exact: dict[str, Rule | None] = {}
        self._shared: dict[str, Rule | None] = {}
        self._wildcard = rules.get(WILDCARD)
        for key, rule in rules.items():
            names: Any = (key,) if isinstance(key, str) else key
            if (
                not isinstance(names, tuple)
                or not names
                or not all(map(_is_name, cast("Any", names)))
            ):
                msg = f"{key!r} names no tool; give a tool's name, a tuple of names, or '*'."
                raise ConfigurationError(msg)
            group = self._exact if isinstance(key, str) else self._shared
            for name in cast("tuple[str, ...]", names):
                if name in group:
                    msg = f"Tool {name!r} has two review rules; keep one of them."
                    raise ConfigurationError(msg)
                if name != WILDCARD:
                    group[name] = rule
                elif isinstance(key, tuple):
                    msg = f"{key!r} has the wildcard in a tuple; give '*' a rule of its own."
                    raise ConfigurationError(msg)

    def of(self, name: str) -> Rule | None:
        """The rule for a tool, or None if its calls run without a review."""
        for group in (self._exact, self._shared):
            if name in group:
                return group[name]
        return self._wildcard

    def check_names(self, owner: str, tools: Sequence[str]) -> None:
        """Refuse a rule for a tool that the agent does not have: it would protect nothing.

        Raises:
            ConfigurationError: With the name and, if there is one, the likely right one.
        """
        for name in (*self._exact, *self._shared):
            if name in tools:
                continue
            close = get_close_matches(name, tools, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            msg = (
                f"{owner} has a review rule for {name!r}, but the agent has no such tool; its "
                f"tools are {', '.join(sorted(tools)) or 'none'}.{hint} Rules for tools that come "
                "at run time go under '*'."
            )
            raise ConfigurationError(msg)


def _is_name(name: object) -> bool:
    return isinstance(name, str) and bool(name)


def check_decisions(tool: ToolKey, allowed: Any) -> tuple[DecisionType, ...]:
    """The allowed decisions of a rule, each of them known.

    Raises:
        ConfigurationError: There are none, or one is unknown.
    """
    known = ", ".join(map(repr, DECISION_TYPES))
    if not isinstance(allowed, (list, tuple)) or not allowed:
        msg = (
            f"The review rule for {tool!r} has allowed_decisions={allowed!r}; give a list with at "
            f"least one of {known}."
        )
        raise ConfigurationError(msg)
    decisions = cast("Sequence[Any]", allowed)
    for decision in decisions:
        if decision not in DECISION_TYPES:
            msg = (
                f"The review rule for {tool!r} allows {decision!r}, which is no decision; the "
                f"decisions are {known}."
            )
            raise ConfigurationError(msg)
    return tuple(dict.fromkeys(decisions))
