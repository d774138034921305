"""Filters and tests of prompt templates: Jinja's own, each charged to the meter of the rendering."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, cast

from jinja2.exceptions import SecurityError
from jinja2.filters import FILTERS
from jinja2.tests import TESTS
from jinja2.utils import pass_context

from .meter import ITEM, MAX_WORK, STEP, Meter

ROUNDS, WEIGHED, LOOKED_AT = "_rounds", "_weighed", "_looked_at"
"""Filters that the environment puts around loops, around what an expression makes, and around what
it only looks at."""

OWN = frozenset({ROUNDS, WEIGHED, LOOKED_AT})

_NAMES = (
    *("abs", "batch", "capitalize", "count", "d", "default", "dictsort", "e", "escape", "first"),
    *("float", "groupby", "indent", "int", "items", "join", "last", "length", "list", "lower"),
    *("map", "max", "min", "reject", "rejectattr", "replace", "reverse", "round", "select"),
    *("selectattr", "slice", "sort", "string", "sum", "title", "tojson", "trim", "truncate"),
    *("unique", "upper", "urlencode", "wordcount"),
)
_MAX_DIGITS = 20
"""Digits that ``round`` may be asked for."""


def charged_filters() -> dict[str, Callable[..., Any]]:
    """All filters of the template language, by name."""
    own: dict[str, Callable[..., Any]] = {ROUNDS: rounds, WEIGHED: _weighed, LOOKED_AT: _looked_at}
    return {**{name: _charged(name) for name in _NAMES}, **own}


def charged_tests() -> dict[str, Callable[..., Any]]:
    """All tests of the template language, by name: what stands behind ``is``."""
    return {name: _charged_test(function) for name, function in TESTS.items()}


def meter_of(context: Any) -> Meter:
    """The meter of the rendering that a context belongs to."""
    return cast("Meter", context.meter)


@pass_context
def written(context: Any, value: Any) -> Any:
    """A value as ``{{ }}`` writes it: None as nothing."""
    if value is None:
        return ""
    meter = meter_of(context)
    if isinstance(value, (str, int, float, list, tuple, dict, set, frozenset)):
        meter.weigh(value)
        return cast("Any", value)
    text = str(value)
    meter.weigh(text)
    return text


@pass_context
def rounds(context: Any, items: Iterable[Any], size: int) -> Iterator[Any]:
    """The items of a loop, each round charged with the size of the loop's text."""
    meter = meter_of(context)
    for item in items:
        meter.charge(STEP + size)
        yield item


@pass_context
def _weighed(context: Any, value: Any) -> Any:
    """What ``~`` or a slice came to, charged."""
    meter_of(context).weigh(value)
    return value


@pass_context
def _looked_at(context: Any, value: Any) -> Any:
    """What is compared or is a key, charged."""
    meter_of(context).look(value)
    return value


def _charged_test(function: Any) -> Callable[..., Any]:
    wants_environment = hasattr(function, "jinja_pass_arg")

    @pass_context
    def charged(context: Any, value: Any, *args: Any) -> Any:
        meter = meter_of(context)
        meter.charge(ITEM)
        meter.look([value, args])
        given = (context.environment, value) if wants_environment else (value,)
        return function(*given, *args)

    return charged


def _charged(name: str) -> Callable[..., Any]:
    function: Any = FILTERS[name]
    wanted = getattr(getattr(function, "jinja_pass_arg", None), "name", None)
    guard = _GUARDS.get(name)

    @pass_context
    def charged(context: Any, value: Any, *args: Any, **options: Any) -> Any:
        meter = meter_of(context)
        meter.charge(STEP)
        meter.weigh([value, args, options])
        if guard is not None:
            value = guard(meter, value, *args, **options)
        first = {
            "context": context,
            "eval_context": context.eval_ctx,
            "environment": context.environment,
        }
        given = (value,) if wanted is None else (first[wanted], value)
        result = function(*given, *args, **options)
        meter.weigh(result)
        return result

    return charged


def _list_of(value: Any) -> list[Any]:
    return list(islice(value, MAX_WORK))


def _guard_join(meter: Meter, value: Any, d: Any = "", attribute: Any = None) -> Any:
    items = _list_of(value)
    if attribute is None:
        meter.weigh(items)
    meter.charge(len(items) * len(str(d)))
    return items


def _guard_replace(meter: Meter, s: Any, old: Any, new: Any, count: Any = None) -> Any:
    text = str(s)
    meter.charge(text.count(str(old)) * len(str(new)))
    del count
    return text


def _guard_sum(_meter: Meter, iterable: Any, attribute: Any = None, start: Any = 0) -> Any:
    items = _list_of(iterable)
    if not isinstance(start, (int, float)) or (
        attribute is None and not all(isinstance(i, (int, float)) for i in items)
    ):
        msg = "sum is for numbers"
        raise SecurityError(msg)
    return items


def _guard_parts(meter: Meter, value: Any, count: int, fill_with: Any = None) -> Any:
    del fill_with
    meter.charge(int(count))
    return value


def _guard_round(_meter: Meter, value: Any, precision: int = 0, method: str = "common") -> Any:
    del method
    if abs(precision) > _MAX_DIGITS:
        msg = f"round takes at most {_MAX_DIGITS} digits"
        raise SecurityError(msg)
    return value


def _guard_tojson(meter: Meter, value: Any, indent: Any = None) -> Any:
    """Charge the blanks at the beginning of each line."""
    if indent is None:
        return value
    width = int(indent) if isinstance(indent, int) else len(str(indent))
    waiting: list[tuple[Any, int]] = [(value, 1)]
    while waiting:
        item, depth = waiting.pop()
        meter.charge(ITEM + depth * max(width, 0))
        if isinstance(item, Mapping):
            waiting += [(v, depth + 1) for v in cast("Mapping[Any, Any]", item).values()]
        elif isinstance(item, (list, tuple)):
            waiting += [(v, depth + 1) for v in cast("list[Any]", item)]
    return value


def _guard_indent(
    meter: Meter, s: Any, width: Any = 4, first: bool = False, blank: bool = False
) -> Any:
    del first, blank
    text = str(s)
    size = int(width) if isinstance(width, int) else len(str(width))
    meter.charge((text.count("\n") + 1) * max(size, 0))
    return text


_GUARDS: dict[str, Callable[..., Any]] = {
    "join": _guard_join,
    "replace": _guard_replace,
    "sum": _guard_sum,
    "batch": _guard_parts,
    "slice": _guard_parts,
    "round": _guard_round,
    "indent": _guard_indent,
    "tojson": _guard_tojson,
}
"""What makes more of what it is given is charged before it runs."""
