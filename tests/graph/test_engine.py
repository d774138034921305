"""The private names of langgraph that the runner relies on still mean what they meant."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError
from langgraph.graph import START, StateGraph
from langgraph.types import Command, Send
from typing_extensions import TypedDict

from interlock.graph.engine import UNWATCHED, Watchers, recursion_error, runtime_of, state_of_send


class Counter(TypedDict, total=False):
    count: int
    context: Any


class Spy(Runnable[Any, Any]):
    """A node that keeps its input and config."""

    def __init__(self, result: Any = None) -> None:
        self.result = result
        self.inputs: list[Any] = []
        self.configs: list[RunnableConfig] = []
        self.states: list[Any] = []

    def invoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> Any:
        assert config is not None
        self.inputs.append(input)
        self.configs.append(config)
        if "call" in input:
            self.states.append(state_of_send(config))
        return self.result


def graph_of(**nodes: Any) -> Any:
    graph: Any = StateGraph(Counter)
    for name, node in nodes.items():
        graph.add_node(name, node)
    graph.add_edge(START, next(iter(nodes)))
    return graph


def test_a_task_that_was_sent_reads_the_state_of_its_superstep() -> None:
    first = Spy(Command(update={"count": 7}, goto=Send("second", {"call": 1})))
    second = Spy()
    graph_of(first=first, second=second).compile().invoke({"count": 1})
    assert second.inputs == [{"call": 1}]
    assert second.states[0]["count"] == 7


@pytest.mark.parametrize("saver", [None, InMemorySaver()])
def test_a_checkpointer_is_seen_from_within_a_node(saver: Any) -> None:
    spy = Spy()
    graph_of(spy=spy).compile(checkpointer=saver).invoke(
        {"count": 1}, {"configurable": {"thread_id": "t"}}
    )
    assert Watchers.of(spy.configs[0]).durable == (saver is not None)


def test_an_inherited_checkpointer_is_seen_too() -> None:
    spy = Spy()
    inner = graph_of(spy=spy).compile()
    outer = graph_of(inner=inner).compile(checkpointer=InMemorySaver())
    outer.invoke({"count": 1}, {"configurable": {"thread_id": "t"}})
    assert Watchers.of(spy.configs[0]).durable


@pytest.mark.parametrize("handlers", [[], [BaseCallbackHandler()]])
def test_handlers_are_seen_from_within_a_node(handlers: list[Any]) -> None:
    spy = Spy()
    config = {"callbacks": handlers, "configurable": {UNWATCHED: True}}
    graph_of(spy=spy).compile().invoke({"count": 1}, config)
    watchers = Watchers.of(spy.configs[0])
    assert watchers.observed == bool(handlers)
    assert watchers.unwatched != bool(handlers)


def test_a_token_stream_is_a_handler() -> None:
    spy = Spy()
    list(graph_of(spy=spy).compile().stream({"count": 1}, stream_mode="messages"))
    assert Watchers.of(spy.configs[0]).observed


def test_the_runtime_is_found_in_the_config() -> None:
    spy = Spy()
    graph_of(spy=spy).compile().invoke({"count": 1}, context={"who": "kim"})
    assert runtime_of(spy.configs[0]).context == {"who": "kim"}


def test_the_recursion_limit_is_found_and_told_as_langgraph_does() -> None:
    spy = Spy(Command(goto="spy"))
    with pytest.raises(GraphRecursionError) as caught:
        graph_of(spy=spy).compile().invoke({"count": 1}, {"recursion_limit": 4})
    assert Watchers.of(spy.configs[0]).recursion_limit == 4
    assert len(spy.inputs) == 4
    ours = str(recursion_error(4)).split(". ")[0]
    assert str(caught.value).startswith(ours)
