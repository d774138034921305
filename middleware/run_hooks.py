"""Hooks given by point, ``hooks={"before_llm": [...]}``, as users of Haystack write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..state.errors import ConfigurationError
from ..tools.calls import Dual
from .collect import HOOK_POINTS, REVERSED_POINTS, Hook, HookPlan, HookPoint, fit

RUN_POINTS: dict[str, HookPoint] = {
    "before_run": "before_agent",
    "before_llm": "before_model",
    "before_tool": "before_tools",
    "after_tool": "after_tools",
    "on_exit": "on_exit",
    "after_run": "after_agent",
}
"""Haystack's names of the points. Source: Haystack 3.4."""


def with_run_hooks(plan: HookPlan, hooks: Mapping[str, Sequence[Any]] | None) -> HookPlan:
    """The plan with further hooks, which run like those of a middleware registered last.

    Args:
        plan: The hooks of the middleware.
        hooks: Per point a list of hooks, in the order in which they run: functions of
            ``(state)`` or ``(state, runtime)``, or objects with ``run`` and, for asynchronous
            runs, ``run_async``. A point has Haystack's name or ours.

    Raises:
        ConfigurationError: There is no such point, a hook cannot be called, or it does not
            belong there.
    """
    if not hooks:
        return plan
    merged = {point: list(given) for point, given in plan.hooks.items()}
    for name, given in hooks.items():
        point = _point(name)
        made = [_hook(name, point, hook) for hook in given]
        merged[point] = (
            [*made, *merged[point]] if point in REVERSED_POINTS else [*merged[point], *made]
        )
    return replace(plan, hooks=merged)


def _point(name: str) -> HookPoint:
    known = [*RUN_POINTS, *HOOK_POINTS]
    point = RUN_POINTS.get(name, name)
    for native in HOOK_POINTS:
        if point == native:
            return native
    msg = f"There is no hook point {name!r}; the points are {', '.join(dict.fromkeys(known))}."
    raise ConfigurationError(msg)


def _hook(name: str, point: HookPoint, hook: Any) -> Hook:
    title = getattr(hook, "__name__", type(hook).__name__)
    allowed = getattr(hook, "allowed_hook_points", None)
    if allowed is not None and name not in allowed and point not in allowed:
        msg = f"Hook {title!r} belongs to {', '.join(map(repr, allowed))}, not to {name!r}."
        raise ConfigurationError(msg)
    values = 3 if point == "on_error" else 2
    run, run_async = getattr(hook, "run", None), getattr(hook, "run_async", None)
    if callable(run) or callable(run_async):
        function = Dual(
            f"{title}.{name}",
            sync=fit(run, values) if callable(run) else None,
            asynchronous=fit(run_async, values) if callable(run_async) else None,
        )
    elif callable(hook) and not isinstance(hook, type):
        plain = Dual.of(hook, f"{title}.{name}")
        function = Dual(
            plain.name,
            sync=fit(plain.sync, values) if plain.sync else None,
            asynchronous=fit(plain.asynchronous, values) if plain.asynchronous else None,
        )
    else:
        msg = f"{hook!r} at {name!r} is no hook; give a function, or an object with run(state)."
        raise ConfigurationError(msg)
    return Hook(
        middleware=title,
        point=point,
        function=function,
        can_jump_to=getattr(hook, "__can_jump_to__", None),
        interrupts=bool(getattr(hook, "__interrupts__", False)),
    )
