from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage

from interlock.middleware import SlidingWindowCompactor
from interlock.middleware.compaction.contract import note_data
from interlock.state.errors import ConfigurationError

TASK = HumanMessage("task")


def kinds(messages: list[Any]) -> list[str]:
    """A letter for each message: the one its text is made of, N for a note, T for the task."""
    return [
        "N" if note_data(m, "sliding_window") else "T" if m is TASK else m.text[:1] or "."
        for m in messages
    ]


def test_conversation_that_fits_stays(compacted: Any, turn: Any) -> None:
    assert compacted(SlidingWindowCompactor(), [*turn("x"), TASK], 104) is None


def test_oldest_turns_go_first(compacted: Any, turn: Any) -> None:
    messages = [*turn("x"), *turn("y"), *turn("z"), TASK]
    left = compacted(SlidingWindowCompactor(), messages, 204)

    assert kinds(left) == ["N", "y", "y", "z", "z", "T"]
    assert left[0].text.startswith("[2 earlier messages")


def test_system_messages_and_task_stay_however_small_the_target(compacted: Any, turn: Any) -> None:
    left = compacted(SlidingWindowCompactor(), [SystemMessage("s"), *turn("x"), TASK], 0)

    assert kinds(left) == ["s", "N", "T"]


def test_steps_go_only_when_the_task_alone_is_too_large(
    compacted: Any, turn: Any, step: Any
) -> None:
    messages = [*turn("x"), TASK, *step("a"), *step("b"), *step("c")]
    by_turn = compacted(SlidingWindowCompactor(), messages, 304)
    by_step = compacted(SlidingWindowCompactor(), messages, 204)

    assert kinds(by_turn) == ["N", "T", ".", "a", ".", "b", ".", "c"]
    assert kinds(by_step) == ["T", "N", ".", "b", ".", "c"]


def test_parallel_results_stay_or_go_together(compacted: Any, step: Any) -> None:
    messages = [TASK, *step("a", "b", "c"), *step("d"), *step("e")]
    left = compacted(SlidingWindowCompactor(), messages, 250)

    assert kinds(left) == ["T", "N", ".", "d", ".", "e"]


@pytest.mark.parametrize(("keep", "left"), [(0, "T N . c"), (1, "T N . c"), (2, "T N . b . c")])
def test_newest_steps_stay_over_any_target(compacted: Any, step: Any, keep: int, left: str) -> None:
    # step c has not been read, so it stays even with 0
    messages = [TASK, *step("a"), *step("b"), *step("c")]
    compactor = SlidingWindowCompactor(min_keep_steps=keep)

    assert " ".join(kinds(compacted(compactor, messages, 1))) == left


def test_notes_are_folded_into_one_that_counts_all(compacted: Any, turn: Any) -> None:
    compactor = SlidingWindowCompactor()
    once = compacted(compactor, [*turn("x"), *turn("y"), TASK], 104)
    twice = compacted(compactor, [*once[:-1], *turn("z"), TASK], 104)

    assert kinds(twice) == ["N", "z", "z", "T"]
    assert twice[0].text.startswith("[4 earlier messages")


def test_note_alone_is_not_exchanged(compacted: Any, turn: Any) -> None:
    compactor = SlidingWindowCompactor()
    once = compacted(compactor, [*turn("x"), TASK], 0)

    assert compacted(compactor, once, 0) is None


def test_note_can_be_worded_or_left_out(compacted: Any, turn: Any) -> None:
    messages = [*turn("x"), TASK]
    worded = compacted(SlidingWindowCompactor(omission_note="{num_removed} {gone}"), messages, 0)
    silent = compacted(SlidingWindowCompactor(omission_note=None), messages, 0)

    assert worded[0].text == "2 {gone}"
    assert kinds(silent) == ["T"]
    assert compacted(SlidingWindowCompactor(omission_note=None), silent, 0) is None


def test_note_longer_than_what_it_stands_for_is_not_worth_it(compacted: Any, turn: Any) -> None:
    assert compacted(SlidingWindowCompactor(), [*turn("x", 4), TASK], 0) is None


def test_unread_results_of_a_turn_that_was_overtaken_stay(compacted: Any, step: Any) -> None:
    messages = [HumanMessage("first"), *step("a"), TASK]

    assert compacted(SlidingWindowCompactor(), messages, 0) is None


def test_unanswered_messages_of_the_user_all_stay(compacted: Any, turn: Any) -> None:
    left = compacted(SlidingWindowCompactor(), [*turn("x"), HumanMessage("wait"), TASK], 0)

    assert kinds(left) == ["N", "w", "T"]


def test_open_call_stays(compacted: Any, step: Any, turn: Any) -> None:
    messages = [*turn("x"), TASK, *step("a", "b")[:-1]]
    left = compacted(SlidingWindowCompactor(), messages, 0)

    assert kinds(left) == ["N", "T", ".", "a"]
    assert isinstance(left[-1], ToolMessage)


@pytest.mark.parametrize(
    "settings", [{"min_keep_steps": -1}, {"min_keep_steps": True}, {"omission_note": " "}]
)
def test_wrong_settings_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        SlidingWindowCompactor(**settings)
