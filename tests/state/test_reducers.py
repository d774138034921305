from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, RemoveMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES, add_messages
from langgraph.types import Overwrite

from interlock.state.channels import LastWrite, MessagesChannel, replay_messages
from interlock.state.reducers import (
    fold_messages,
    index_messages,
    merge_lists,
    replace_values,
    stamp_messages,
    unknown_removals,
)


@pytest.mark.parametrize(
    ("current", "new", "merged"),
    [
        ([1], [2], [1, 2]),
        (None, [1], [1]),
        ([1], None, [1]),
        ([1], 2, [1, 2]),
        ([1], (2, 3), [1, 2, 3]),
        (1, {2}, [1, 2]),
        (None, None, []),
    ],
)
def test_lists_are_merged_item_by_item(current: Any, new: Any, merged: list[Any]) -> None:
    assert merge_lists(current, new) == merged


def test_merging_leaves_the_given_list_alone() -> None:
    current = [1]
    merge_lists(current, [2])
    assert current == [1]


def test_replacing_takes_the_new_value() -> None:
    assert replace_values([1], None) is None


@pytest.mark.parametrize(
    "notation",
    [
        "hi",
        ("user", "hi"),
        {"role": "user", "content": "hi"},
        HumanMessage("hi"),
        [("human", "hi")],
    ],
)
def test_every_notation_becomes_a_message_with_an_id(notation: Any) -> None:
    (message,) = stamp_messages(notation)
    assert isinstance(message, HumanMessage)
    assert message.text == "hi"
    assert message.id


def test_a_chunk_becomes_a_whole_message() -> None:
    (message,) = stamp_messages([AIMessageChunk(content="part")])
    assert type(message) is AIMessage


def message(ident: str, text: str = "") -> HumanMessage:
    return HumanMessage(text, id=ident)


def removal(ident: str) -> RemoveMessage:
    return RemoveMessage(id=ident)


_entries = st.one_of(
    st.builds(message, st.sampled_from("abcde"), st.text(max_size=2)),
    st.builds(removal, st.sampled_from("abcde")),
)
_updates = st.lists(st.lists(_entries, max_size=5), max_size=5)


@given(_updates)
def test_messages_fold_as_add_messages_merges_them(updates: list[list[Any]]) -> None:
    expected: list[Any] = []
    ours: list[Any] = []
    for update in updates:
        known = {m.id for m in expected}
        seen = set(known)
        valid: list[Any] = []
        for entry in update:
            if isinstance(entry, RemoveMessage) and entry.id not in seen:
                continue
            if not isinstance(entry, RemoveMessage):
                seen.add(entry.id)
            valid.append(entry)
        expected = add_messages(expected, valid)  # type: ignore[assignment]
        ours = fold_messages(ours, update, index_messages(ours))
    assert ours == expected


@given(_updates, _updates)
def test_folding_does_not_depend_on_how_updates_are_batched(
    first: list[list[Any]], second: list[list[Any]]
) -> None:
    apart = replay_messages(replay_messages([], first), second)
    assert apart == replay_messages([], [*first, *second])


@given(_updates)
def test_the_channel_holds_what_a_replay_of_its_writes_gives(updates: list[list[Any]]) -> None:
    channel = MessagesChannel().from_checkpoint(None)
    for update in updates:
        channel.update([update])
    assert channel.get() == replay_messages([], updates)
    assert channel.copy().get() == channel.get()


def test_removing_all_keeps_what_follows() -> None:
    base = [message("a"), message("b")]
    update = [message("c"), RemoveMessage(id=REMOVE_ALL_MESSAGES), message("d")]
    assert [m.id for m in fold_messages(base, update, index_messages(base))] == ["d"]


def test_an_update_leaves_earlier_values_of_the_channel_alone() -> None:
    channel = MessagesChannel().from_checkpoint(None)
    channel.update([[message("a")]])
    before = channel.get()
    channel.update([[message("b")], [message("a", "new")]])
    assert [m.id for m in before] == ["a"]
    assert [(m.id, m.text) for m in channel.get()] == [("a", "new"), ("b", "")]


def test_the_channel_can_be_overwritten() -> None:
    channel = MessagesChannel().from_checkpoint(None)
    channel.update([[message("a")]])
    channel.update([Overwrite([message("z")])])
    channel.update([[message("b")]])
    assert [m.id for m in channel.get()] == ["z", "b"]


def test_a_thread_written_with_add_messages_is_read_as_it_is() -> None:
    channel = MessagesChannel().from_checkpoint([message("a")])
    channel.update([[message("a", "again")]])
    assert [m.text for m in channel.get()] == ["again"]


def test_messages_to_remove_that_are_not_there_are_told() -> None:
    update = [message("c"), RemoveMessage(id="c"), RemoveMessage(id="x"), RemoveMessage(id="a")]
    assert unknown_removals(update, ["a"]) == ["x"]


def test_of_parallel_writes_the_last_in_call_order_stays() -> None:
    channel = LastWrite(int)
    channel.update([1, 2, 3])
    assert channel.get() == 3
