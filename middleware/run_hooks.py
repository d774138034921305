"""Hooks given by point, ``hooks={"before_llm": [...]}``, as users of Haystack write them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from inspect import iscoroutinefunction
from typing import Any, cast

from ..state.errors import ConfigurationError
from ..state.suggestion import did_you_mean
from ..tools.calls import Dual
from .collect import HOOK_POINTS, REVERSED_POINTS, Hook, HookPlan, HookPoint, fit
from .function_hook import FunctionHook, name_of
from .hook_signature import asks_for_state

RUN_POINTS: dict[str, HookPoint] = {
    "before_run": "before_agent",
    "before_llm": "before_model",
    "before_tool": "before_tools",
    "after_tool": "after_tools",
    "on_exit": "on_exit",
    "after_run": "after_agent",
}
"""Haystack's names of the points. Source: Haystack 3.4."""


def with_run_hooks(
    plan: HookPlan,
    hooks: Mapping[str, Sequence[Any]] | None,
    tools: Mapping[str, Any] | None = None,
) -> HookPlan:
    """The plan with further hooks, which run like those of a middleware registered last.

    Args:
        plan: The hooks of the middleware.
        hooks: Per point a list of hooks, in the order in which they run: ``@hook`` functions and
            objects with ``run`` and, for asynchronous runs, ``run_async``, which are given the
            live state; or functions of ``(state)`` or ``(state, runtime)`` that are given a dict,
            unless they annotate it as ``State``. A point has Haystack's name or ours.
        tools: The agent's tools, where no others can come, for hooks that want to know them.

    Raises:
        ConfigurationError: There is no such point, a hook cannot be called, or it does not
            belong there.
    """
    if not hooks:
        return plan
    # A layer around tool calls may bring tools of its own.
    fixed = None if plan.wraps["wrap_tool_call"] else tools
    merged = {point: list(given) for point, given in plan.hooks.items()}
    for name, given in hooks.items():
        point = _point(name)
        made = [_hook(name, point, _fitted(hook, fixed)) for hook in _listed(name, given)]
        merged[point] = (
            [*made, *merged[point]] if point in REVERSED_POINTS else [*merged[point], *made]
        )
    return replace(plan, hooks=merged)


def _point(name: str) -> HookPoint:
    point = RUN_POINTS.get(name, name)
    for native in HOOK_POINTS:
        if point == native:
            return native
    known = list(dict.fromkeys([*RUN_POINTS, *HOOK_POINTS]))
    msg = (
        f"There is no hook point {name!r}; the points are {', '.join(known)}."
        f"{did_you_mean(str(name), known)}"
    )
    raise ConfigurationError(msg)


def _listed(name: str, hooks: Any) -> Iterable[Any]:
    if isinstance(hooks, (list, tuple)):
        return cast("Iterable[Any]", hooks)
    msg = (
        f"The hooks at {name!r} are {hooks!r}; give a list of hooks, in the order they are to run."
    )
    raise ConfigurationError(msg)


def _fitted(hook: Any, tools: Mapping[str, Any] | None) -> Any:
    """The hook as an agent with these tools uses it, if it has anything to say to that."""
    told = None if isinstance(hook, type) or tools is None else getattr(hook, "for_agent", None)
    return told(name_of(hook), tools) if callable(told) else hook


def _hook(name: str, point: HookPoint, hook: Any) -> Hook:
    title = name_of(hook)
    _check_belongs(title, name, point, getattr(hook, "allowed_hook_points", None))
    values = 3 if point == "on_error" else 2
    function = _function(hook, f"{title}.{name}")
    if function is None:
        raise _no_hook(name, hook)
    forms = [f for f in (function.sync, function.asynchronous) if f is not None]
    is_object = hook not in forms
    return Hook(
        middleware=title,
        point=point,
        function=Dual(
            function.name,
            sync=fit(function.sync, values) if function.sync else None,
            asynchronous=fit(function.asynchronous, values) if function.asynchronous else None,
        ),
        can_jump_to=getattr(hook, "__can_jump_to__", None),
        interrupts=getattr(hook, "__interrupts__", getattr(hook, "interrupts", False)) is True,
        live=is_object or any(map(asks_for_state, forms)),
    )


def _function(hook: Any, name: str) -> Dual | None:
    """The functions of a hook, or None if it has none."""
    if isinstance(hook, FunctionHook):
        return Dual(name, sync=hook.function, asynchronous=hook.async_function)
    if isinstance(hook, type):
        return None
    run, run_async = _method(hook, "run"), _method(hook, "run_async")
    if run is not None and iscoroutinefunction(run):
        run, run_async = None, run_async or run
    if run is not None or run_async is not None:
        return Dual(name, sync=run, asynchronous=run_async)
    if not callable(hook):
        return None
    function = cast("Callable[..., Any]", hook)
    called = iscoroutinefunction(getattr(hook, "__call__", None))  # noqa: B004 - its kind is asked
    return Dual(name, asynchronous=function) if called else Dual.of(function, name)


def _method(hook: Any, name: str) -> Callable[..., Any] | None:
    method = getattr(hook, name, None)
    return cast("Callable[..., Any]", method) if callable(method) else None


def _check_belongs(title: str, name: str, point: HookPoint, allowed: Any) -> None:
    if allowed is None:
        return
    if point not in [_point(entry) for entry in allowed]:
        msg = f"Hook {title!r} belongs to {', '.join(map(repr, allowed))}, not to {name!r}."
        raise ConfigurationError(msg)


def _no_hook(name: str, hook: Any) -> ConfigurationError:
    methods = [m for m in dir(hook) if not m.startswith("_") and callable(getattr(hook, m, None))]
    hint = "" if isinstance(hook, type) else did_you_mean("run", methods)
    what = "a class; give an instance of it" if isinstance(hook, type) else "no hook"
    return ConfigurationError(
        f"{hook!r} at {name!r} is {what}; a hook is a function, or an object with run(state).{hint}"
    )
