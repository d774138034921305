"""The hooks of a list of middleware, brought into one form when an agent is built."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import Parameter, iscoroutinefunction, signature
from typing import Any, Literal, cast, get_args

from ..state.errors import ConfigurationError
from ..tools.calls import Dual
from ..tools.layers import Layer
from .flows import bound
from .hook_signature import asks_for_state

HookPoint = Literal[
    "before_agent",
    "before_model",
    "after_model",
    "before_tools",
    "after_tools",
    "on_exit",
    "after_agent",
    "on_error",
]
"""The points of a run at which hooks run."""

WrapPoint = Literal["wrap_model_call", "wrap_tool_call"]

HOOK_POINTS: tuple[HookPoint, ...] = get_args(HookPoint)
WRAP_POINTS: tuple[WrapPoint, ...] = get_args(WrapPoint)
REVERSED_POINTS = frozenset({"after_model", "after_tools", "on_exit", "after_agent", "on_error"})


@dataclass(frozen=True)
class Hook:
    """One hook of one middleware."""

    middleware: str
    """Name of the middleware."""
    point: HookPoint
    function: Dual
    """``(state, runtime, config)``; of ``on_error``, ``(error, state, runtime, config)``."""
    can_jump_to: tuple[str, ...] | None = None
    """The declared jumps; None means none were declared."""
    interrupts: bool = False
    """It pauses the run, so what came before is stored first."""
    live: bool = False
    """It is given the live state instead of a dict."""
    trace_policy: Any = None
    """What traced runs of it record."""
    private: frozenset[str] = frozenset()
    """State keys that they never record."""

    @property
    def owner(self) -> str:
        """Name in errors and traces."""
        return f"{self.middleware}.{self.point}"


@dataclass(frozen=True)
class HookPlan:
    """All hooks and layers of an agent, each list in the order in which it runs."""

    hooks: Mapping[HookPoint, Sequence[Hook]] = field(
        default_factory=lambda: dict.fromkeys(HOOK_POINTS, ())
    )
    wraps: Mapping[WrapPoint, Sequence[Layer]] = field(
        default_factory=lambda: dict.fromkeys(WRAP_POINTS, ())
    )
    """Layers, the outermost first."""

    def has(self, *points: HookPoint) -> bool:
        """Whether there is a hook at any of the points."""
        return any(self.hooks[point] for point in points)

    def keeping(self, private: frozenset[str]) -> HookPlan:
        """The plan with runs of hooks and layers that record no private state keys."""
        if not private:
            return self
        return HookPlan(
            {p: [replace(h, private=private) for h in hs] for p, hs in self.hooks.items()},
            {p: [replace(w, private=private) for w in ws] for p, ws in self.wraps.items()},
        )


def collect_hooks(middleware: Sequence[Any]) -> HookPlan:
    """The hooks of middleware objects, of our base class or of LangChain's.

    Raises:
        ConfigurationError: An entry is a class instead of an instance, or is no middleware.
    """
    _check_entries(middleware)
    names = unique_names([middleware_name(m) for m in middleware])
    named = list(zip(names, middleware, strict=True))
    hooks = {
        point: [h for name, m in _ordered(named, point) if (h := _hook(name, m, point))]
        for point in HOOK_POINTS
    }
    wraps = {
        point: [layer for name, m in named if (layer := layer_at(point, name, m))]
        for point in WRAP_POINTS
    }
    return HookPlan(
        cast("Mapping[HookPoint, Sequence[Hook]]", hooks),
        cast("Mapping[WrapPoint, Sequence[Layer]]", wraps),
    )


def _check_entries(middleware: Any) -> None:
    if isinstance(middleware, (str, Mapping)) or not isinstance(middleware, Iterable):
        msg = f"middleware is {middleware!r}; give a list of middleware objects."
        raise ConfigurationError(msg)
    points = ("state_schema", "tools", *HOOK_POINTS, *WRAP_POINTS)
    for entry in cast("Iterable[Any]", middleware):
        if isinstance(entry, type):
            msg = f"middleware holds the class {entry.__name__!r}; give an instance of it."
            raise ConfigurationError(msg)
        if not any(hasattr(entry, f"{a}{p}") for p in points for a in ("", "a")):
            msg = f"middleware holds {entry!r}, which has no hooks; give AgentMiddleware objects."
            raise ConfigurationError(msg)


def fit_to_agent(middleware: Sequence[Any], tools: Mapping[str, Any]) -> list[Any]:
    """The middleware as one agent uses it: those that want to know its tools have been told.

    Raises:
        ConfigurationError: A setting does not fit the agent's tools.
    """
    _check_entries(middleware)
    fitted: list[Any] = []
    names = unique_names([middleware_name(m) for m in middleware])
    for name, entry in zip(names, middleware, strict=True):
        told = None if isinstance(entry, type) else getattr(entry, "for_agent", None)
        fitted.append(entry if told is None else told(name, tools))
    return fitted


def middleware_name(middleware: Any) -> str:
    """The name a middleware gives itself, or its class's."""
    name = getattr(middleware, "name", None)
    return name if isinstance(name, str) and name else type(middleware).__name__


def unique_names(names: Sequence[str]) -> list[str]:
    """The names, those that occur several times numbered from the second one on."""
    seen: Counter[str] = Counter()
    unique: list[str] = []
    for name in names:
        seen[name] += 1
        unique.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return unique


def layer_at(point: WrapPoint, name: str, middleware: Any) -> Layer | None:
    """The layer of a middleware at a point, if it has one."""
    sync, asynchronous = _forms(middleware, point)
    if sync is None and asynchronous is None:
        return None
    logic: Layer | None = getattr(sync, "logic", None)
    # Where only one form has been overridden, there is no logic of both.
    both = logic is not None and logic is getattr(asynchronous, "logic", None)
    own = bound(logic, cast("Any", sync).__self__) if logic is not None and both else Layer(name)
    return replace(
        own,
        name=f"{name}.{point}",
        sync=sync,
        asynchronous=asynchronous,
        trace_policy=getattr(middleware, "trace_policy", None),
        withholds=getattr(middleware, "withholds_replies", False) is True,
    )


def _ordered(named: list[tuple[str, Any]], point: HookPoint) -> Iterable[tuple[str, Any]]:
    return reversed(named) if point in REVERSED_POINTS else named


def _hook(name: str, middleware: Any, point: HookPoint) -> Hook | None:
    sync, asynchronous = _forms(middleware, point)
    if sync is None and asynchronous is None:
        return None
    marked = [f for f in (sync, asynchronous) if f is not None]
    jumps = next(
        (j for f in marked if (j := getattr(f, "__can_jump_to__", None)) is not None), None
    )
    declared = getattr(middleware, "interrupts", False)
    pauses = declared if isinstance(declared, bool) else point in declared
    values = 2 if point != "on_error" else 3
    here = fit(sync, values) if sync else None
    later = fit(asynchronous, values) if asynchronous else None
    return Hook(
        middleware=name,
        point=point,
        function=Dual(
            f"{name}.{point}",
            sync=here,
            asynchronous=later,
            quick=later is None and _is_quick(middleware, sync),
        ),
        can_jump_to=None if jumps is None else tuple(jumps),
        interrupts=any(getattr(f, "__interrupts__", pauses) for f in marked),
        live=any(map(asks_for_state, marked)),
        trace_policy=getattr(middleware, "trace_policy", None),
    )


def _is_quick(middleware: Any, function: Any) -> bool:
    """Whether a hook is said to wait for nothing."""
    return getattr(function, "__quick__", getattr(middleware, "quick_hooks", False)) is True


def _forms(
    middleware: Any, point: str
) -> tuple[Callable[..., Any] | None, Callable[..., Any] | None]:
    """The synchronous and the asynchronous form of a hook, None where it is not overridden."""
    own = getattr(middleware, point) if _overrides(middleware, point) else None
    twin = getattr(middleware, f"a{point}") if _overrides(middleware, f"a{point}") else None
    if own is not None and iscoroutinefunction(own):
        return None, twin or own
    return own, twin


def _overrides(middleware: Any, name: str) -> bool:
    """Whether a hook is the middleware's own and not the base class's, ours or LangChain's."""
    if name in getattr(middleware, "__dict__", {}):
        # LangChain's base class lacks some of our hooks: a setting may bear their name.
        return hasattr(type(cast("object", middleware)), name)
    for kind in type(middleware).__mro__:
        if name in vars(kind):
            return kind.__name__ != "AgentMiddleware"
    return False


def fit(function: Callable[..., Any], values: int) -> Callable[..., Any]:
    """``function`` as one that takes ``values`` values and the config.

    A hook may take fewer values than there are, the first ones, and may ask for ``config`` by
    name.

    Raises:
        ConfigurationError: It asks for more.
    """
    parameters = list(signature(function).parameters.values())
    positional = [
        p
        for p in parameters
        if p.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
        and p.name != "config"
    ]
    takes_config = any(p.name == "config" for p in parameters)
    variable = any(p.kind is Parameter.VAR_POSITIONAL for p in parameters)
    count = values if variable else min(values, len(positional))
    needed = [p.name for p in positional[count:] if p.default is Parameter.empty]
    if needed:
        name = getattr(function, "__qualname__", repr(function))
        msg = f"Hook {name!r} asks for {', '.join(needed)}; hooks take state, runtime and config."
        raise ConfigurationError(msg)
    return _taking(function, count, values, takes_config=takes_config)


def _taking(
    function: Callable[..., Any], count: int, values: int, *, takes_config: bool
) -> Callable[..., Any]:
    """``function`` called with the first ``count`` of ``values`` values, and with the config."""
    if (count, values) == (2, 2):
        # Nearly every hook; it runs in each turn of each run.
        def with_config(state: Any, runtime: Any, config: Any) -> Any:
            return function(state, runtime, config=config)

        def without(state: Any, runtime: Any, _: Any) -> Any:
            return function(state, runtime)

        return with_config if takes_config else without
    if takes_config:
        return lambda *args: function(*args[:count], config=args[-1])
    return lambda *args: function(*args[:count])
