"""What an agent looks like from outside: its graph, and the keys that go in and come out."""

from __future__ import annotations

from typing import Any, cast

from langgraph.pregel import Pregel

from ...state.errors import ConfigurationError, InvalidInputError
from ...state.suggestion import did_you_mean


def graph_of(agent: Any) -> Any:
    """The compiled graph, without a checkpointer of its own: that of the graph around is used.

    Args:
        agent: A compiled graph, or an ``Agent``, which is compiled.

    Raises:
        ConfigurationError: It is neither.
    """
    graph = agent
    if not isinstance(agent, Pregel) and callable(make := getattr(agent, "compile", None)):
        graph = make()
    if not isinstance(graph, Pregel):
        msg = f"{agent!r} is no agent; give what create_agent returns, or another compiled graph."
        raise ConfigurationError(msg)
    compiled = cast("Any", graph)
    # False says that nothing of it is stored, True that it goes on each time: both are kept.
    own = not isinstance(compiled.checkpointer, bool) and compiled.checkpointer is not None
    return compiled.copy({"checkpointer": None}) if own else compiled


def input_keys(graph: Any) -> set[str]:
    """The keys that a graph takes; empty if that is not known."""
    return _keys(graph, "input_schema")


def output_keys(graph: Any) -> set[str]:
    """The keys that a graph returns; empty if that is not known."""
    return _keys(graph, "output_schema")


def known_input(graph: Any, given: dict[str, Any], owner: str) -> dict[str, Any]:
    """An input of an agent that code of the program made.

    Raises:
        InvalidInputError: A key is no input of the agent, which inside a larger graph would be
            left out without a word.
    """
    known = input_keys(graph)
    if foreign := [key for key in given if known and key not in known]:
        msg = (
            f"{owner} gives the agent {foreign[0]!r}; it takes {', '.join(sorted(known))}."
            f"{did_you_mean(foreign[0], known)}"
        )
        raise InvalidInputError(msg, key=foreign[0])
    return given


def _keys(graph: Any, schema: str) -> set[str]:
    builder = getattr(graph, "builder", None)
    return set(getattr(getattr(builder, schema, None), "__annotations__", ()))
