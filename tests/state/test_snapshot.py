"""What readers of a working state are shown is theirs."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.channels.binop import BinaryOperatorAggregate
from langgraph.channels.last_value import LastValue

from interlock.graph import create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import AgentMiddleware
from interlock.state.channels import MessagesChannel
from interlock.state.working import KeyRules, WorkingState

CHANNELS: dict[str, Any] = {
    "messages": MessagesChannel(),
    "log": BinaryOperatorAggregate(list, operator.add),
    "kept": LastValue(object),
}
Shown = dict[str, Any]


class Incomparable:
    def __eq__(self, other: object) -> bool:
        raise TypeError

    __hash__ = None  # type: ignore[assignment]


def clear(shown: Shown) -> None:
    shown["messages"].clear()


def take_one(shown: Shown) -> None:
    shown["messages"].pop()


def turn_around(shown: Shown) -> None:
    shown["messages"].reverse()


def put_in_another(shown: Shown) -> None:
    shown["messages"][0] = HumanMessage("other")


def put_in_anything(shown: Shown) -> None:
    shown["messages"][0] = Incomparable()


def drop(shown: Shown) -> None:
    del shown["log"]


def put_over(shown: Shown) -> None:
    shown.update(log=["other"], more=1)


CHANGES = [clear, take_one, turn_around, put_in_another, put_in_anything, drop, put_over]


@pytest.mark.parametrize("change", CHANGES)
def test_what_one_reader_does_to_it_no_other_sees(change: Callable[[Shown], None]) -> None:
    messages = [HumanMessage("q", id="q"), AIMessage("a", id="a")]
    values: dict[str, Any] = {"messages": messages, "log": ["a"], "kept": Incomparable()}
    work = WorkingState(values, KeyRules(CHANNELS, {}))
    change(work.snapshot())
    after = work.snapshot()
    assert (after["messages"], after["log"], after["kept"]) == (messages, ["a"], values["kept"])
    assert after.keys() == values.keys()


def test_readers_that_change_nothing_share_one() -> None:
    work = WorkingState({"messages": [HumanMessage("q", id="q")]}, KeyRules(CHANNELS, {}))
    assert work.snapshot() is work.snapshot()


@pytest.mark.parametrize("change", [clear, take_one, turn_around])
@pytest.mark.parametrize("asynchronous", [False, True])
async def test_what_a_hook_does_to_its_state_neither_hooks_nor_layers_see(
    change: Callable[[Shown], None], asynchronous: bool
) -> None:
    seen: list[list[str]] = []

    class Changes(AgentMiddleware):
        def before_model(self, state: Any, runtime: Any) -> None:  # noqa: ARG002
            change(state)

    class Looks(AgentMiddleware):
        def before_model(self, state: Any, runtime: Any) -> None:  # noqa: ARG002
            seen.append([m.text for m in state["messages"]])
            change(state)

        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            seen.append([m.text for m in request.state["messages"]])
            return handler(request)

    agent = create_agent(ScriptedChatModel(["done"]), middleware=[Changes(), Looks()])
    value: Any = {"messages": ["1", "2"]}
    result = await agent.ainvoke(value) if asynchronous else agent.invoke(value)
    assert seen == [["1", "2"], ["1", "2"]]
    assert [m.text for m in result["messages"]] == ["1", "2", "done"]
