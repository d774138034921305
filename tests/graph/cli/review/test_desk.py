"""What a reviewer can do: look, and answer through the agent."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from interlock.middleware import InvalidDecisionError, NotWaitingError
from interlock.state import ConfigurationError

Office = Any
Serve = Callable[[Any], Any]
APPROVE = {"type": "approve"}


def ids(desk: Any, thread: str = "t") -> list[str]:
    found = desk.open(thread).waiting
    return [] if found is None else [p.full_id for p in found.approvals]


def test_answers_go_to_the_run_of_their_thread(office: Office) -> None:
    office.begin("t", ("send", {"to": "Ann"}), ("send", {"to": "Bob"}))
    office.begin("u", ("send", {"to": "Eve"}))
    desk = office.desk()
    first, second = ids(desk)
    outcome = anyio.run(desk.answer, "t", {first: APPROVE, second: {"type": "reject"}})
    assert (outcome.waits, outcome.failure, office.did) == (False, None, ["1 letter to Ann"])
    assert [t.thread_id for t in desk.waiting()] == ["u"]
    assert desk.open("t").conversation.messages[-1].text == "All is done."


def test_refused_answer_changes_nothing_and_can_be_given_again(office: Office) -> None:
    office.begin("t", ("send", {"to": "Ann"}))
    desk = office.desk()
    (ident,) = ids(desk)
    wrong = {"type": "edit", "edited_action": {"name": "send", "args": {"to": 5}}}
    with pytest.raises(InvalidDecisionError):
        anyio.run(desk.answer, "t", {ident: wrong})
    assert (ids(desk), office.did, desk.in_hand) == ([ident], [], set())
    anyio.run(desk.answer, "t", {ident: APPROVE})
    assert office.did == ["1 letter to Ann"]


def test_answer_for_another_thread_is_refused(office: Office) -> None:
    office.begin("t", ("send", {"to": "Ann"}))
    office.begin("u", ("send", {"to": "Eve"}))
    desk = office.desk()
    with pytest.raises(NotWaitingError):
        anyio.run(desk.answer, "u", {ids(desk)[0]: APPROVE})
    assert (office.did, len(desk.waiting())) == ([], 2)


def test_without_the_agent_answers_are_refused_and_reading_works(office: Office) -> None:
    office.begin("t", ("send", {"to": "Ann"}))
    desk = office.desk(reads_only=True)
    with pytest.raises(ConfigurationError, match="--agent"):
        anyio.run(desk.answer, "t", {ids(desk)[0]: APPROVE})
    assert len(desk.open("t").conversation.messages) == 2


def test_failure_of_the_run_is_told_and_the_answer_stays_given(office: Office) -> None:
    office.begin("t", ("send", {"to": "nobody"}))
    desk = office.desk()
    outcome = anyio.run(desk.answer, "t", {ids(desk)[0]: APPROVE})
    assert "the post office is closed" in outcome.failure
    assert ids(desk) == []


def test_failed_call_of_its_own_pause_keeps_its_answer(office: Office) -> None:
    office.begin("t", ("send", {"to": "nobody"}), interrupt_mode="per_call")
    desk = office.desk(interrupt_mode="per_call")
    (ident,) = ids(desk)
    outcome = anyio.run(desk.answer, "t", {ident: APPROVE})
    assert "the post office is closed" in outcome.failure
    assert ids(desk) == []
    with pytest.raises(NotWaitingError):
        anyio.run(desk.answer, "t", {ident: {"type": "reject"}})


def test_double_click_runs_the_call_once(office: Office, serve: Serve) -> None:
    office.begin("t", ("send", {"to": "Ann"}))
    desk = office.desk()
    page, answers = serve(desk), {ids(desk)[0]: APPROVE}
    office.hold = threading.Event()
    first: list[Any] = []
    clicking = threading.Thread(target=lambda: first.append(page.answer("t", answers)))
    clicking.start()
    assert office.began.wait(20)
    again = page.answer("t", answers)
    shown = page.get("/api/thread?id=t").json()
    assert (again.status_code, "just now" in again.json()["error"]) == (409, True)
    assert [a["in_hand"] for a in shown["approvals"]] == [True]
    office.hold.set()
    clicking.join(20)
    late = page.answer("t", answers)
    assert (first[0].status_code, late.status_code, office.did) == (200, 409, ["1 letter to Ann"])
    assert "answered before" in late.json()["error"]
