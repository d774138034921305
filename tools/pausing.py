"""Which tools are likely to pause the run: seen in their code, or learned when they did.

A call that pauses is begun anew when its answer comes. So what happened in the node before it is
better stored first; but that takes a superstep, which a tool that never pauses need not pay.
"""

from __future__ import annotations

from collections.abc import Iterator
from inspect import unwrap
from types import CodeType, FunctionType
from typing import Any, cast

from langchain_core.tools import BaseTool
from langgraph.pregel import Pregel

from .injection import functions_of

_DEEPEST = 3
"""Functions that are looked into, one called by the other."""


def may_pause(tool: BaseTool) -> bool:
    """Whether a tool's code is seen to call ``interrupt`` or to run a graph.

    Its functions are looked at, and those that they name, a few calls deep. What is reached in
    another way, such as by an attribute of an object, is not seen.
    """
    return any(_pauses(unwrap(function), _DEEPEST) for function in functions_of(tool))


def _pauses(function: Any, depth: int) -> bool:
    plain: Any = getattr(function, "__func__", function)
    if not isinstance(plain, FunctionType):
        return False
    names = set(_names(plain.__code__))
    if "interrupt" in names:
        return True
    found = [plain.__globals__[name] for name in names if name in plain.__globals__]
    for cell in plain.__closure__ or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:
            # The name has no value yet.
            continue
    return any(_runs_a_graph(value) for value in found) or (
        depth > 1 and any(_pauses(value, depth - 1) for value in found)
    )


def _names(code: CodeType) -> Iterator[str]:
    """The names that code and the functions defined in it refer to."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _runs_a_graph(value: Any) -> bool:
    """Whether a value is a graph, or holds one as an agent of ours does."""
    kind: Any = cast("Any", type(value))
    if isinstance(value, type):
        return False
    if isinstance(value, Pregel) or (hasattr(kind, "arun") and hasattr(kind, "compile")):
        return True
    return isinstance(getattr(value, "__dict__", {}).get("graph"), Pregel)
