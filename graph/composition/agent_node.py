"""An agent as a node of a graph whose state looks different."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, cast

from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from pydantic import BaseModel

from ...state.errors import ConfigurationError, InvalidInputError
from ...state.suggestion import did_you_mean
from ...tools.calls import AWAITING, BLOCKING, Calls, Dual, run_inline
from ..hand_over import shown_as
from .compiled_agent import graph_of, input_keys, known_input, output_keys

ToInput = Mapping[str, str] | Callable[[Any], Mapping[str, Any]]
"""Per input key of the agent the key of the graph's state, or ``state -> input``."""

ToUpdate = Mapping[str, str] | Callable[[dict[str, Any]], Mapping[str, Any]]
"""Per key of the graph's state the key of the agent's result, or ``result -> update``."""


def agent_node(
    agent: Any,
    *,
    input: ToInput | None = None,
    output: ToUpdate | None = None,
    remember: bool = False,
) -> Runnable[Any, Any]:
    """A node that gives an agent a part of the state and takes a part of its result.

    An agent whose keys have the names of the graph's needs none of this: give it to ``add_node``
    as it is, and it takes its input keys and returns its output keys, messages included. Either
    way its pauses are pauses of the graph's thread, and streams with ``subgraphs=True`` show its
    steps under the name of the node.

    Args:
        agent: A compiled agent, or an ``Agent``.
        input: ``{"messages": "question"}`` gives the agent the graph's ``question``; a function
            makes the input of the state. By default the keys that both have.
        output: ``{"answer": "last_message"}`` puts that part of the result under ``answer``; a
            function makes the update of the result. By default all of it. A hand-over takes
            along what this lets out.
        remember: Keep a conversation of its own per thread, which goes on each time the node is
            run, in a graph with a checkpointer. Otherwise each time begins a new one.

    Raises:
        ConfigurationError: A key is none of the agent's. In a run: the state lacks a key.
    """
    graph = graph_of(agent)
    if remember:
        graph = graph.copy({"checkpointer": True})
    _check("input", [] if callable(input) else [*(input or ())], input_keys(graph))
    taken = {} if callable(output) else output or {}
    _check("output", [*taken.values()], output_keys(graph))

    async def step(calls: Calls, agent: Any, state: Any, config: RunnableConfig) -> Any:
        run = Dual("the agent", agent.invoke, agent.ainvoke)
        if output is None:
            return await calls.call(run, _input(agent, input, state), config)
        inner = shown_as(config, partial(_update, output))
        return _update(output, await calls.call(run, _input(agent, input, state), inner))

    def call(state: Any, config: RunnableConfig) -> Any:
        # langgraph finds a graph inside a node by what its function refers to by name.
        return run_inline(step(BLOCKING, graph, state, config))

    async def call_later(state: Any, config: RunnableConfig) -> Any:
        return await step(AWAITING, graph, state, config)

    return RunnableLambda(call, call_later, name=graph.name)


def _input(agent: Any, chosen: ToInput | None, state: Any) -> Any:
    if chosen is None:
        return state
    if not isinstance(chosen, Mapping):
        return known_input(agent, dict(chosen(state)), "input")
    keys = cast("Mapping[str, str]", chosen)
    values = _values(state)
    if missing := [key for key in keys.values() if key not in values]:
        msg = (
            f"The state has no {missing[0]!r} for the agent; it has "
            f"{', '.join(map(repr, values)) or 'nothing yet'}."
        )
        raise InvalidInputError(msg, key=missing[0])
    return {own: values[key] for own, key in keys.items()}


def _update(chosen: ToUpdate, result: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(chosen, Mapping):
        return dict(chosen(result))
    keys = cast("Mapping[str, str]", chosen)
    return {key: result[own] for key, own in keys.items() if own in result}


def _values(state: Any) -> dict[str, Any]:
    if isinstance(state, BaseModel):
        return {key: getattr(state, key) for key in type(state).model_fields}
    if hasattr(state, "__dataclass_fields__"):
        return {key: getattr(state, key) for key in state.__dataclass_fields__}
    return dict(cast("Mapping[str, Any]", state))


def _check(setting: str, keys: list[str], known: set[str]) -> None:
    for key in keys:
        if known and key not in known:
            msg = (
                f"{setting} names {key!r}, which is no {setting} of the agent; it has "
                f"{', '.join(sorted(known))}.{did_you_mean(key, known)}"
            )
            raise ConfigurationError(msg)
