"""Several updates of a key in one node come to what they would one node after the other."""

from __future__ import annotations

import operator
from copy import deepcopy
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langgraph.channels.base import BaseChannel
from langgraph.channels.binop import BinaryOperatorAggregate
from langgraph.channels.delta import DeltaChannel
from langgraph.channels.ephemeral_value import EphemeralValue
from langgraph.channels.topic import Topic
from langgraph.graph.message import REMOVE_ALL_MESSAGES, add_messages
from langgraph.types import Overwrite

from interlock.state.channels import HandledValue, MessagesChannel
from interlock.state.errors import InvalidUpdateError
from interlock.state.reducers import Handler, merge_lists, replace_values
from interlock.state.working import KeyRules, WorkingState


def batched(base: list[str], updates: Any) -> list[str]:
    return [*base, *(item for update in updates for item in update)]


def every_second(current: list[str], new: list[str]) -> list[str]:
    """A reducer whose result depends on how the updates are cut."""
    return [*current, *new][::2]


def channels() -> dict[str, Any]:
    return {
        "added": BinaryOperatorAggregate(list, operator.add),
        "merged": BinaryOperatorAggregate(dict, cast("Any", operator.or_)),
        "summed": BinaryOperatorAggregate(float, operator.add),
        "thinned": BinaryOperatorAggregate(list, every_second),
        "listed": HandledValue(list, Handler(merge_lists)),
        "replaced": HandledValue(list, Handler(replace_values)),
        "topic": Topic(str, accumulate=True),
        "delta": DeltaChannel(batched, list),
        "short": EphemeralValue(list, guard=False),
        "messages": MessagesChannel(),
        "full": BinaryOperatorAggregate(list, add_messages),
    }


words = st.lists(st.sampled_from("abc"), max_size=3)
idents = st.sampled_from(["1", "2", "3"])
messages = st.lists(
    st.one_of(
        idents.map(RemoveMessage),
        st.just(RemoveMessage(REMOVE_ALL_MESSAGES)),
        *[st.builds(kind, st.sampled_from("xyz"), id=idents) for kind in (AIMessage, HumanMessage)],
    ),
    min_size=1,
    max_size=4,
)
VALUES: dict[str, Any] = {
    "merged": st.dictionaries(st.sampled_from("abc"), st.integers(0, 3), max_size=2),
    "summed": st.floats(-9, 9),
    "messages": messages,
    "full": messages,
}


def values_of(key: str) -> st.SearchStrategy[Any]:
    plain: st.SearchStrategy[Any] = VALUES.get(key, words)
    if not isinstance(channels()[key], (BinaryOperatorAggregate, DeltaChannel)):
        return plain
    whole = plain.filter(keeps) if plain is messages else plain
    return st.one_of(plain, plain, whole.map(Overwrite))


def keeps(value: Any) -> bool:
    """Whether messages are such as a conversation may consist of."""
    ids = {m.id for m in value}
    return len(ids) == len(value) and not any(isinstance(m, RemoveMessage) for m in value)


def step(channel: BaseChannel[Any, Any, Any], *writes: Any) -> Any:
    """The value of a channel after one superstep."""
    channel.update(deepcopy(writes))
    return channel.get() if channel.is_available() else None


updates = st.lists(
    st.sampled_from(sorted(channels())).flatmap(lambda k: st.tuples(st.just(k), values_of(k))),
    max_size=7,
)


@pytest.mark.parametrize("alone", [True, False])
@given(before=words, given_updates=updates)
def test_one_write_comes_to_what_the_updates_come_to_one_by_one(
    alone: bool, before: list[str], given_updates: list[tuple[str, Any]]
) -> None:
    ours, theirs = channels(), channels()
    for key in ("added", "topic", "delta"):
        step(ours[key], before)
        step(theirs[key], before)
    work = WorkingState(
        {k: c.get() for k, c in ours.items() if c.is_available()}, KeyRules(ours, {})
    )
    work.alone = alone
    for key, value in given_updates:
        try:
            work.apply({key: deepcopy(value)}, "a hook")
        except InvalidUpdateError:
            continue
        step(theirs[key], value)
    expected = {k: c.get() for k, c in theirs.items() if c.is_available()}
    assert {k: v for k, v in work.values.items() if k in expected} == expected
    written = work.take_writes()
    assert len(written) <= 1 or not alone
    for key in {k for update in written for k in update}:
        step(ours[key], *[update[key] for update in written if key in update])
    assert {k: c.get() for k, c in ours.items() if c.is_available()} == expected


@pytest.mark.parametrize(
    ("key", "writes", "expected"),
    [
        ("added", [["a"], ["b"]], ["a", "b"]),
        ("merged", [{"a": 1}, {"b": 2}, {"a": 3}], {"a": 3, "b": 2}),
        ("listed", ["a", ("b",)], ["a", "b"]),
        ("topic", ["a", ["b", "c"]], ["a", "b", "c"]),
    ],
)
@pytest.mark.parametrize("alone", [True, False])
def test_what_a_stream_shows_is_what_was_added(
    key: str, writes: Any, expected: Any, alone: bool
) -> None:
    work = WorkingState({key: type(expected)()}, KeyRules(channels(), {}))
    work.alone = alone
    for write in writes:
        work.apply({key: write}, "a hook")
    assert work.take_writes() == [{key: expected}]


def test_a_key_of_any_other_reducer_is_replaced_as_a_whole_by_a_node_that_is_alone() -> None:
    work = WorkingState({"thinned": ["a"]}, KeyRules(channels(), {}))
    for write in (["b", "c"], ["d"]):
        work.apply({"thinned": write}, "a hook")
    assert work.take_writes() == [{"thinned": Overwrite(["a", "d"])}]


def test_parallel_tasks_write_a_key_of_any_other_reducer_update_by_update() -> None:
    work = WorkingState({"thinned": ["a"]}, KeyRules(channels(), {}))
    work.alone = False
    for write in (["b", "c"], ["d"]):
        work.apply({"thinned": write}, "a tool")
    assert work.take_writes() == [{"thinned": ["b", "c"]}, {"thinned": ["d"]}]


@pytest.mark.parametrize("alone", [True, False])
def test_a_message_that_comes_back_stands_at_the_end(alone: bool) -> None:
    first, second = HumanMessage("1", id="1"), HumanMessage("2", id="2")
    ours = channels()["messages"]
    work = WorkingState({"messages": step(ours, [first, second])}, KeyRules(channels(), {}))
    work.alone = alone
    for update in (RemoveMessage("1"), [HumanMessage("back", id="1")], HumanMessage("3", id="3")):
        work.apply({"messages": update}, "a hook")
    written = [update["messages"] for update in work.take_writes()]
    assert [m.text for m in step(ours, *written)] == ["2", "back", "3"]
    removed = [m.id for m in written[0] if isinstance(m, RemoveMessage)]
    assert removed == ([REMOVE_ALL_MESSAGES] if alone else ["1"])


def test_a_merge_leaves_the_value_that_was_there_alone() -> None:
    before = ["a"]
    work = WorkingState({"topic": before}, KeyRules(channels(), {}))
    work.apply({"topic": "b"}, "a hook")
    assert (before, work.values["topic"]) == (["a"], ["a", "b"])
