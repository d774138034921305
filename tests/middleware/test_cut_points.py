from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    add_notification_metadata,
)

from interlock.middleware.cut_points import (
    is_real_user,
    is_summary,
    last_user,
    layout,
    leading_system,
    safe_cut,
    tool_steps,
    unread_start,
)


def ai(*ids: str) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": "t", "args": {}, "id": i} for i in ids])


def result(ident: str) -> ToolMessage:
    return ToolMessage("r", tool_call_id=ident)


USER = HumanMessage("u")
SUMMARY = add_notification_metadata(HumanMessage("s"), source="summarization")
NUDGE = add_notification_metadata(HumanMessage("n"), source="interlock")


def test_notification_is_no_real_user() -> None:
    assert [is_real_user(m) for m in (USER, SUMMARY, NUDGE, ai())] == [True, False, False, False]
    assert [is_summary(m) for m in (USER, SUMMARY, NUDGE)] == [False, True, False]


@pytest.mark.parametrize(
    ("messages", "wanted", "cut"),
    [
        ([USER, ai("a", "b"), result("a"), result("b"), USER], 3, 1),
        ([USER, ai("a"), result("a"), USER], 3, 3),
        # an orphan at the border is left on the far side
        ([USER, ai("a"), result("a"), result("x"), USER], 3, 4),
        # results that come late, across other calls
        ([ai("a"), ai("b"), result("a"), result("b")], 3, 0),
        # ids that begin anew in each reply: the later call is not parted
        ([ai("a"), result("a"), ai("a"), result("a")], 2, 2),
        ([USER], 0, 0),
        ([USER], 7, 7),
    ],
)
def test_cut_keeps_calls_with_their_results(
    messages: list[BaseMessage], wanted: int, cut: int
) -> None:
    assert safe_cut(messages, wanted) == cut


@given(data=st.data())
def test_every_safe_cut_leaves_two_valid_sides(histories: Any, faults: Any, data: Any) -> None:
    messages = data.draw(histories())
    cut = safe_cut(messages, data.draw(st.integers(0, len(messages))))

    assert faults(messages[:cut]) == []
    assert faults(messages[cut:]) == []


@pytest.mark.parametrize(
    ("messages", "start"),
    [
        ([USER, USER], None),
        ([USER, ai(), USER], 2),
        ([USER, ai("a"), result("a")], 1),
        ([USER, ai("a")], 1),
        ([USER, ai()], 2),
    ],
)
def test_unread_begins_behind_the_last_reply_or_with_its_calls(
    messages: list[BaseMessage], start: int | None
) -> None:
    assert unread_start(messages) == start


def test_landmarks() -> None:
    messages = [SystemMessage("s"), USER, ai(), USER, NUDGE]

    assert leading_system(messages) == 1
    assert leading_system([SystemMessage("s")]) == 1
    assert last_user(messages) == 3
    assert last_user([ai()]) is None


def test_layout_divides_history_into_turns_and_the_task_into_steps() -> None:
    messages: list[BaseMessage] = [
        SystemMessage("s"),
        *(SUMMARY, USER, ai("a"), result("a"), ai(), USER, ai()),
        *(USER, NUDGE, ai("b"), result("b"), ai("c"), result("c")),
    ]
    parts = layout(messages)

    assert (parts.system_end, parts.task) == (1, 8)
    assert list(parts.turns) == [range(1, 2), range(2, 6), range(6, 8)]
    assert list(parts.steps) == [range(9, 10), range(10, 12)]
    assert parts.step_open


def test_newest_steps_count_the_open_one() -> None:
    messages = [USER, ai("a"), result("a"), ai("b"), result("b"), ai("c"), result("c")]
    parts = layout(messages)

    assert list(parts.given_up(1)) == [range(1, 3), range(3, 5)]
    assert list(parts.given_up(2)) == [range(1, 3)]
    assert list(parts.given_up(9)) == []


def test_turn_with_unread_messages_is_in_no_part() -> None:
    parts = layout([USER, ai("a"), result("a"), USER])

    assert list(parts.turns) == []


def test_conversation_without_replies_has_no_parts() -> None:
    parts = layout([USER, USER, USER])

    assert (list(parts.turns), list(parts.steps)) == ([], [])


def test_tool_steps_are_the_results_of_each_reply() -> None:
    messages = [USER, ai("a", "b"), result("a"), result("b"), ai("c"), result("c"), USER]

    assert tool_steps(messages) == [range(2, 4), range(5, 6)]
