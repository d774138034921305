"""The template language: Jinja2 without anything that reaches Python or runs away.

A template has no globals, no imports, no calls but those of plain text and data, and a list of
filters none of which runs while the template is read. What it does is charged to a meter.

Source: the escapes from template sandboxes of CVE-2019-10906, CVE-2024-56326 and CVE-2025-27516;
the filters that ran at build time reported in deepset-ai/haystack#12382, 2026.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any, cast

from jinja2 import ChainableUndefined, nodes
from jinja2.environment import Template
from jinja2.exceptions import SecurityError, TemplateSyntaxError
from jinja2.meta import find_undeclared_variables
from jinja2.runtime import Context, LoopContext, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

from .filters import (
    LOOKED_AT,
    OWN,
    ROUNDS,
    WEIGHED,
    charged_filters,
    charged_tests,
    meter_of,
    rounds,
    written,
)
from .message_block import MessageBlock
from .meter import STEP, Meter

MAX_TEMPLATE_CHARS = 200_000

_METHODS: tuple[tuple[type, frozenset[str]], ...] = (
    (
        str,
        frozenset(
            {
                *("capitalize", "casefold", "count", "endswith", "find", "isalnum", "isalpha"),
                *("isdigit", "isnumeric", "lower", "lstrip", "removeprefix", "removesuffix"),
                *("rfind", "rstrip", "split", "splitlines", "startswith", "strip", "title"),
                "upper",
            }
        ),
    ),
    (dict, frozenset({"get", "items", "keys", "values"})),
    (list, frozenset({"count", "index"})),
    (tuple, frozenset({"count", "index"})),
    (dt.datetime, frozenset({"date", "isoformat", "time", "weekday"})),
    (dt.date, frozenset({"isoformat", "weekday"})),
    (dt.time, frozenset({"isoformat"})),
)
"""Methods that a template may call: they only look, and give no more than they are given."""

_FORBIDDEN: dict[type[nodes.Node], str] = {
    nodes.Include: "include",
    nodes.Import: "import",
    nodes.FromImport: "import",
    nodes.Extends: "extends",
    nodes.Block: "block",
    nodes.ScopedEvalContextModifier: "autoescape",
}
_NO_GLOBALS = frozenset({"cycler", "dict", "joiner", "lipsum", "namespace", "range", "self"})


class PromptContext(Context):
    """The values of one rendering, its meter, and the messages that it made."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.meter = Meter()
        self.made: list[dict[str, Any]] = []
        self.call_cost = 0
        """Characters that a call may write: all those of the template."""


class PromptEnvironment(ImmutableSandboxedEnvironment):
    """Reads and runs prompt templates."""

    context_class = PromptContext
    intercepted_binops = frozenset({"*", "**", "+", "-", "%"})

    def __init__(self) -> None:
        super().__init__(
            undefined=ChainableUndefined,
            extensions=[MessageBlock],
            finalize=written,
            keep_trailing_newline=True,
            optimized=False,
            cache_size=0,
        )
        self.globals.clear()
        self.filters = charged_filters()
        self.tests = cast("Any", charged_tests())

    def read(self, source: str) -> nodes.Template:
        """The tree of a template, checked. Nothing of it runs.

        Raises:
            TemplateSyntaxError: It cannot be read, or uses what prompts do not have.
        """
        if len(source) > MAX_TEMPLATE_CHARS:
            msg = f"it has {len(source)} characters; {MAX_TEMPLATE_CHARS} is the limit"
            raise TemplateSyntaxError(msg, 1)
        try:
            tree = self.parse(source)
        except (RecursionError, MemoryError, ValueError, OverflowError) as error:
            msg = f"it cannot be read ({type(error).__name__})"
            raise TemplateSyntaxError(msg, 1) from error
        _check(tree, self.filters)
        return tree

    def make(self, tree: nodes.Template) -> Template:
        """A template that can be rendered, every loop, join and comparison of it metered.

        Raises:
            TemplateSyntaxError: It is nested too deeply.
        """
        metered = _Metered().visit(tree)
        metered.set_environment(self)
        try:
            code = self.compile(metered)
        except (RecursionError, MemoryError, SyntaxError, ValueError) as error:
            msg = f"it cannot be compiled ({type(error).__name__})"
            raise TemplateSyntaxError(msg, 1) from error
        return Template.from_code(self, code, {})

    def is_safe_callable(self, obj: Any) -> bool:
        """Whether a template may call ``obj``: methods of plain data, and its own macros."""
        if isinstance(obj, (Macro, LoopContext)):
            return True
        owner = getattr(obj, "__self__", None)
        if isinstance(owner, (MessageBlock, LoopContext)):
            return True
        name = getattr(obj, "__name__", "")
        return any(type(owner) is kind and name in names for kind, names in _METHODS)

    def call(self, context: Any, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call what a template calls.

        Raises:
            SecurityError: It may not, or the call costs too much.
        """
        if not self.is_safe_callable(obj):
            msg = "a template may call methods of text and data only; pass the result instead"
            raise SecurityError(msg)
        meter = meter_of(context)
        size = cast("int", context.call_cost)
        meter.charge(STEP + size)
        owner = getattr(obj, "__self__", None)
        if not isinstance(owner, MessageBlock):
            meter.look([owner, args, kwargs])
        if isinstance(obj, LoopContext) and args:
            args = (rounds(context, args[0], size), *args[1:])
        result = context.call(obj, *args, **kwargs)
        meter.weigh(result)
        return result

    def unsafe_undefined(self, obj: Any, attribute: str) -> Any:
        """Refuse an attribute that reaches into Python.

        Raises:
            SecurityError: Always; Jinja would read it as a missing value.
        """
        msg = f"a template may not read {attribute!r} of {type(obj).__name__!r}"
        raise SecurityError(msg)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Compute ``left operator right``.

        Raises:
            SecurityError: The result would be too large, or text would be formatted.
        """
        meter = meter_of(context)
        if operator == "*":
            meter.multiply(left, right)
        elif operator == "**":
            meter.power(left, right)
        elif operator == "%" and not isinstance(left, (int, float)):
            msg = "% is for numbers; write values with {{ }}"
            raise SecurityError(msg)
        meter.look([left, right])
        result = super().call_binop(context, operator, left, right)
        meter.weigh(result)
        return result


class _Metered(NodeTransformer):
    """Puts the metering filters around all that costs more the larger its values are."""

    def visit_For(self, node: nodes.For) -> nodes.Node:  # noqa: N802 - Jinja calls it so
        self.generic_visit(node)
        node.iter = _around(node.iter, ROUNDS, [nodes.Const(text_size(node))])
        return node

    def visit_Concat(self, node: nodes.Concat) -> Any:  # noqa: N802 - Jinja calls it so
        self.generic_visit(node)
        return _around(node, WEIGHED, [])

    def visit_Compare(self, node: nodes.Compare) -> nodes.Node:  # noqa: N802 - Jinja calls it so
        self.generic_visit(node)
        node.expr = _looked_at(node.expr)
        for operand in node.ops:
            operand.expr = _looked_at(operand.expr)
        return node

    def visit_Getitem(self, node: nodes.Getitem) -> Any:  # noqa: N802 - Jinja calls it so
        self.generic_visit(node)
        if isinstance(node.arg, nodes.Slice):
            return _around(node, WEIGHED, [])
        node.arg = _looked_at(node.arg)
        return node

    def visit_Pair(self, node: nodes.Pair) -> nodes.Node:  # noqa: N802 - Jinja calls it so
        self.generic_visit(node)
        node.key = _looked_at(node.key)
        return node


def variables_of(tree: nodes.Template) -> frozenset[str]:
    """Names that a template reads and does not make itself before."""
    uses: dict[str, str] = {}
    for name in _names(tree):
        uses.setdefault(name.name, name.ctx)
    return frozenset(n for n in find_undeclared_variables(tree) if uses.get(n) != "store")


def _names(node: nodes.Node) -> Iterator[nodes.Name]:
    """All names in the order in which they are read and set."""
    if isinstance(node, nodes.Name):
        yield node
        return
    children = list(node.iter_child_nodes())
    if isinstance(node, (nodes.Assign, nodes.AssignBlock)):
        children = [c for c in children if c is not node.target] + [node.target]
    for child in children:
        yield from _names(child)


def text_size(node: nodes.Node) -> int:
    """Characters of plain text in a part of a template."""
    return sum(len(part.data) for part in node.find_all(nodes.TemplateData))


def _around(inner: Any, name: str, args: list[nodes.Expr]) -> Any:
    return nodes.Filter(inner, name, args, [], None, None).set_lineno(inner.lineno)


def _looked_at(inner: nodes.Expr) -> Any:
    return inner if isinstance(inner, nodes.Const) else _around(inner, LOOKED_AT, [])


def _check(tree: nodes.Template, filters: Any) -> None:
    for node in tree.find_all(tuple(_FORBIDDEN)):
        msg = f"a prompt has no {_FORBIDDEN[type(node)]!r}"
        raise TemplateSyntaxError(msg, node.lineno)
    for found in tree.find_all(nodes.Filter):
        if found.name not in filters or found.name in OWN:
            known = ", ".join(sorted(set(filters) - OWN))
            msg = f"there is no filter {found.name!r} in prompts; there are {known}"
            raise TemplateSyntaxError(msg, found.lineno)
    for name in tree.find_all(nodes.Name):
        if name.ctx == "load" and name.name in _NO_GLOBALS:
            msg = f"prompts have no {name.name!r}; pass what you need as a variable"
            raise TemplateSyntaxError(msg, name.lineno)
