"""A thread as the page is told of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from interlock.graph.cli.review.sheet import LONGEST_TEXT, message_of, sheet_of

Office = Any


def test_everything_that_waits_is_told_in_full(office: Office) -> None:
    long = "x" * (LONGEST_TEXT + 5)
    office.begin("t", ("send", {"to": long, "copies": 3}), text=long)
    sheet = sheet_of(office.desk().open("t"))
    (waiting,) = sheet["approvals"]
    assert waiting["args"] == {"to": json.dumps(long), "copies": "3"}
    assert (waiting["tool"], waiting["description"]) == ("send", "")
    assert sheet["messages"][-1]["cut"] == 5


def test_what_a_program_says_of_a_call_stays(office: Office) -> None:
    rule = {"allowed_decisions": ["approve"], "description": "Costs money.\n\nReally."}
    office.begin("t", ("send", {"to": "Ann"}), ("forge", {}), rule=rule)
    (waiting,) = sheet_of(office.desk().open("t"))["approvals"]
    assert waiting["description"] == "Costs money.\n\nReally."


def test_remark_beside_the_usual_description_stays(office: Office) -> None:
    office.begin("t", ("forge", {"to": "Ann"}), rule=True, wildcard=True)
    (waiting,) = sheet_of(office.desk().open("t"))["approvals"]
    assert waiting["description"] == "The agent has no tool of this name."


def test_sheet_is_json_whatever_is_in_it(office: Office) -> None:
    office.begin("t", ("send", {"to": "a\ud800"[:1], "tags": [1e308, None]}))
    assert json.loads(json.dumps(sheet_of(office.desk().open("t"))))["id"] == "t"


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (HumanMessage("hi"), "hi"),
        (
            HumanMessage([{"type": "text", "text": "see"}, {"type": "image_url"}]),
            "see\n[image_url]",
        ),
        (AIMessage([{"type": "reasoning", "reasoning": "hm"}, "so"]), "so"),
        (ToolMessage("", tool_call_id="c1"), ""),
    ],
)
def test_message_is_its_text_and_the_kind_of_the_rest(message: Any, text: str) -> None:
    assert message_of(message)["text"] == text


def test_thread_that_ended_has_its_conversation_and_nothing_that_waits(office: Office) -> None:
    office.begin("t", text="Fine.")
    sheet = sheet_of(office.desk().open("t"))
    assert (sheet["id"], sheet["approvals"], len(sheet["messages"])) == (None, [], 2)
