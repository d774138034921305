"""When a conversation is long enough to be summarized, and how much of it stays.

Source: the forms of ``trigger`` and ``keep`` of LangChain 1.5.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict, cast

from ..state.errors import ConfigurationError

ContextFraction = tuple[Literal["fraction"], float]
"""A part of the tokens that the model takes in, such as ``("fraction", 0.8)``."""

ContextTokens = tuple[Literal["tokens"], int]
"""A number of tokens, such as ``("tokens", 3000)``."""

ContextMessages = tuple[Literal["messages"], int]
"""A number of messages, such as ``("messages", 50)``."""

ContextSize = ContextFraction | ContextTokens | ContextMessages


class TriggerClause(TypedDict, total=False):
    """Thresholds that must all be reached, such as ``{"tokens": 4000, "messages": 10}``."""

    tokens: int
    messages: int
    fraction: float


Trigger = ContextSize | TriggerClause | Sequence[ContextSize | TriggerClause] | None
"""One threshold, a clause, or a list of either, of which one must be reached."""

_METRICS = ("tokens", "messages", "fraction")


def checked_size(size: Any, setting: str) -> ContextSize:
    """A pair of metric and number.

    Raises:
        ConfigurationError: It is none, or the number is out of range.
    """
    if not isinstance(size, tuple) or len(cast("tuple[Any, ...]", size)) != 2:  # noqa: PLR2004
        msg = f"{setting} is {size!r}; give a pair such as ('tokens', 3000)."
        raise ConfigurationError(msg)
    kind, value = cast("tuple[Any, Any]", size)
    if kind not in _METRICS:
        msg = (
            f"Unsupported context size type {kind!r} for {setting}; the types are "
            f"{', '.join(_METRICS)}."
        )
        raise ConfigurationError(msg)
    _check_value(kind, value, setting)
    return cast("ContextSize", (kind, value))


def trigger_clauses(trigger: Any) -> list[TriggerClause]:
    """A trigger in its general form: one of the clauses must be met, each as a whole.

    Raises:
        ConfigurationError: A clause is empty, names an unknown metric or holds a wrong number.
        TypeError: It is neither pair, dict nor list of those.
    """
    if trigger is None:
        return []
    if isinstance(trigger, list):
        return [_clause(item, " item") for item in cast("list[Any]", trigger)]
    return [_clause(trigger, "")]


def copied_trigger(trigger: Any) -> Any:
    """A trigger that does not change when the caller's lists and dicts do."""
    if isinstance(trigger, list):
        return [copied_trigger(item) for item in cast("list[Any]", trigger)]
    return dict(cast("Any", trigger)) if isinstance(trigger, Mapping) else trigger


def is_met(
    clauses: Sequence[TriggerClause], messages: int, tokens: int, max_input_tokens: int | None
) -> bool:
    """Whether a clause is met.

    Args:
        clauses: See :func:`trigger_clauses`.
        messages: How many messages there are.
        tokens: How many tokens they are.
        max_input_tokens: What the model takes in; None is not known, and no fraction is reached.
    """
    sizes = {"messages": messages, "tokens": tokens, "fraction": tokens}
    return any(
        all(
            (limit := _limit(kind, cast("float", value), max_input_tokens)) is not None
            and sizes[kind] >= limit
            for kind, value in clause.items()
        )
        for clause in clauses
    )


def tokens_of(size: ContextSize, max_input_tokens: int | None) -> int | None:
    """A size in tokens, or None for one in messages or for a fraction of something unknown."""
    kind, value = size
    return None if kind == "messages" else _limit(kind, value, max_input_tokens)


def _limit(kind: str, value: float, max_input_tokens: int | None) -> int | None:
    if kind != "fraction":
        return int(value)
    return None if max_input_tokens is None else max(1, int(max_input_tokens * value))


def _clause(item: Any, where: str) -> TriggerClause:
    if isinstance(item, tuple):
        kind, value = checked_size(cast("Any", item), "trigger")
        return cast("TriggerClause", {kind: value})
    if not isinstance(item, Mapping):
        msg = (
            f"Unsupported trigger{where} type: {type(item).__name__}; give a pair such as "
            "('tokens', 3000), a dict such as {'tokens': 3000, 'messages': 10}, or a list of them."
        )
        raise TypeError(msg)
    clause = dict(cast("Mapping[Any, Any]", item))
    if not clause:
        msg = f"A trigger clause is empty; give it at least one of {', '.join(_METRICS)}."
        raise ConfigurationError(msg)
    for kind, value in clause.items():
        if kind not in _METRICS:
            msg = f"Unsupported trigger metric: {kind!r}; the metrics are {', '.join(_METRICS)}."
            raise ConfigurationError(msg)
        _check_value(kind, value, "trigger")
    return cast("TriggerClause", clause)


def _check_value(kind: str, value: Any, setting: str) -> None:
    if isinstance(value, bool):
        msg = f"{kind} {setting} value must be numeric, got {value!r}."
    elif kind == "fraction":
        if not isinstance(value, (int, float)):
            msg = f"Fraction {setting} values must be numeric, got {value!r}."
        elif not 0 < value <= 1:
            msg = f"Fractional {setting} values must be between 0 and 1, got {value!r}."
        else:
            return
    elif not isinstance(value, int):
        msg = f"{kind} {setting} values must be integers, got {value!r}."
    elif value <= 0:
        msg = f"{setting} thresholds must be greater than 0, got {value!r}."
    else:
        return
    raise ConfigurationError(msg)
