"""A reviewer at the terminal."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any

import anyio
import pytest
from rich.console import Console

from interlock.graph.cli.review.dialogue import Dialogue

Office = Any
Talk = Callable[..., str]


@pytest.fixture
def talk(monkeypatch: pytest.MonkeyPatch) -> Talk:
    """``talk(desk, *lines)``: what is shown while these lines are typed, all of them needed."""

    def hold(desk: Any, *lines: Any) -> str:
        shown, typed = io.StringIO(), iter(lines)

        def read(*_: Any) -> str:
            try:
                line = next(typed)
            except StopIteration:
                raise EOFError from None
            return str(line() if callable(line) else line)

        monkeypatch.setattr("builtins.input", read)
        Dialogue(desk, Console(file=shown, width=120)).hold()
        assert list(typed) == []
        return shown.getvalue()

    return hold


def test_call_is_shown_with_what_was_said_and_approved(office: Office, talk: Talk) -> None:
    office.begin("order 7", ("send", {"to": "Ann"}), text="I write to Ann.")
    shown = talk(office.desk(), "1", "a")
    for text in ("order 7", "Please go on", "I write to Ann.", "came to its end"):
        assert text in shown
    assert "to  Ann" in shown
    assert office.did == ["1 letter to Ann"]


@pytest.mark.parametrize(
    ("lines", "did", "told"),
    [
        (["r", "No letters."], [], "No letters."),
        (["r", ""], [], "rejected"),
        (["w", "Ann knows."], [], "Ann knows."),
        (["e", "Bob", "", "", ""], ["1 letter to Bob"], ""),
        (["e", "", "4", "card", '["a"]'], ["4 card to Ann ['a']"], ""),
        (["e", "", "4,", "4", "", ""], ["4 letter to Ann"], ""),
        (["x", "", "a"], ["1 letter to Ann"], ""),
    ],
    ids=str,
)
def test_each_decision_has_a_key(
    office: Office, talk: Talk, lines: Sequence[str], did: list[str], told: str
) -> None:
    office.begin("t", ("send", {"to": "Ann", "copies": 1}))
    talk(office.desk(), "1", *lines)
    assert office.did == did
    said = office.desk().open("t").conversation.messages
    assert told in "".join(m.text for m in said if m.type == "tool")


def test_refused_answer_is_asked_again(office: Office, talk: Talk) -> None:
    office.begin("t", ("send", {"to": "Ann"}))
    shown = talk(office.desk(), "1", "e", "", "", "parcel", "", "e", "", "", "card", "")
    assert "refused" in shown
    assert office.did == ["1 card to Ann"]


def test_call_that_somebody_else_answered_meanwhile_is_left(office: Office, talk: Talk) -> None:
    office.begin("t", ("send", {"to": "Ann"}))
    other = office.desk()
    (thread,) = other.waiting()

    def reject() -> str:
        answers = {thread.approvals[0].full_id: {"type": "reject"}}
        anyio.run(other.answer, "t", answers)
        return "a"

    assert "answered before" in talk(office.desk(), "1", reject)
    assert office.did == []


def test_only_allowed_decisions_have_a_key(office: Office, talk: Talk) -> None:
    office.begin("t", ("send", {"to": "Ann"}), rule={"allowed_decisions": ["reject"]})
    desk = office.desk(rule={"allowed_decisions": ["reject"]})
    assert "Type one of r, s." in talk(desk, "1", "a", "r", "")
    assert office.did == []


def test_call_can_be_skipped_and_still_waits(office: Office, talk: Talk) -> None:
    office.begin("t", ("send", {"to": "Ann"}), ("send", {"to": "Bob"}))
    talk(office.desk(), "1", "s", "a", "q")
    assert office.did == []
    (thread,) = office.desk().waiting()
    assert [p.args["to"] for p in thread.approvals] == ["Ann"]


def test_calls_of_a_pause_that_counts_them_are_answered_together(
    office: Office, talk: Talk
) -> None:
    office.begin("t", ("batch", {"names": ["Ann", "Bob"]}))
    talk(office.desk(), "1", "a", "r", "")
    assert office.did == ["approve reject"]


def test_question_is_answered(office: Office, talk: Talk) -> None:
    office.begin("t", ("ask", {"question": "Red or blue?"}))
    assert "Red or blue?" in talk(office.desk(), "1", "blue")
    assert office.did == ["heard 'blue'"]


def test_end_of_the_input_ends_the_dialogue_and_changes_nothing(office: Office, talk: Talk) -> None:
    office.begin("t", ("send", {"to": "Ann"}))
    talk(office.desk(), "1")
    assert (office.did, len(office.desk().waiting())) == ([], 1)


def test_failure_of_the_run_is_told(office: Office, talk: Talk) -> None:
    office.begin("t", ("send", {"to": "nobody"}))
    assert "the post office is closed" in talk(office.desk(), "1", "a")


def test_nothing_of_a_thread_moves_the_cursor(office: Office, talk: Talk) -> None:
    hostile = "\x1b[2J\x1b[1;1H[red]safe[/red]\r\u202egnp"
    rule = {"allowed_decisions": ["approve", "edit"], "description": hostile}
    office.begin(
        hostile, ("send", {"to": hostile, hostile: hostile}), text=hostile, said=hostile, rule=rule
    )
    shown = talk(office.desk(rule=rule), "1", "e")
    assert not set("\x1b\r\u202e") & set(shown)
    assert "[red]safe[/red]" in shown
