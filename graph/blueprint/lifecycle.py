"""Warming up and closing: every part of an agent that wants it, each once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from inspect import iscoroutinefunction
from typing import Any, cast

from ...tools.calls import Calls, Dual

WARM_UP = ("warm_up", ("awarm_up", "warm_up_async"))
"""Name of a method that prepares a part, and the names of its asynchronous form."""

CLOSE = ("close", ("aclose", "close_async"))
"""The same for the one that releases what it holds."""


async def call_each(calls: Calls, parts: Iterable[Any], names: tuple[str, tuple[str, ...]]) -> None:
    """Call a method of every part that has it, each object once, in order.

    All are called even if one fails; its error is raised at the end.
    """
    failures: list[Exception] = []
    for part in unique(parts):
        method = _method(part, *names)
        if method is None:
            continue
        try:
            await calls.call(method)
        except Exception as error:  # noqa: BLE001 - the others are still to be called
            failures.append(error)
    if failures:
        for other in failures[1:]:
            failures[0].add_note(f"Another part failed, too: {other!r}")
        raise failures[0]


def unique(parts: Iterable[Any]) -> Iterator[Any]:
    """Each object once, in order."""
    seen: dict[int, Any] = {}
    for part in parts:
        if id(part) not in seen:
            seen[id(part)] = part
            yield part


def parts_of(model: Any, settings: Mapping[str, Any]) -> Iterator[Any]:
    """What an agent is made of: its model, tools, middleware and hooks."""
    yield model
    tools: Any = settings.get("tools") or ()
    if hasattr(tools, "warm_up"):
        yield tools
    else:
        yield from cast("Iterable[Any]", tools)
    yield from settings.get("middleware") or ()
    hooks = cast("Mapping[str, Iterable[Any]]", settings.get("hooks") or {})
    for given in hooks.values():
        yield from given


def _method(part: Any, name: str, later: tuple[str, ...]) -> Dual | None:
    """The method of a part in the styles that it exists in."""
    if part is None or isinstance(part, (str, dict, type)):
        return None
    own: Any = getattr(part, name, None)
    twin: Any = next((f for n in later if callable(f := getattr(part, n, None))), None)
    if iscoroutinefunction(own):
        own, twin = None, twin or own
    if not callable(own) and twin is None:
        return None
    label = f"{type(part).__name__}.{name}"
    return Dual(label, sync=own if callable(own) else None, asynchronous=twin)
