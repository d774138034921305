"""Histories read as requests and results."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolCall,
    ToolMessage,
)

from interlock.graph.models.embedded.conversation import clean, read_conversation
from interlock.state.errors import InvalidInputError
from interlock.state.model_errors import ChatModelRequestError


def asked(*names: str) -> AIMessage:
    calls = [ToolCall(name=n, args={"n": i}, id=f"{n}{i}") for i, n in enumerate(names)]
    return AIMessage("", tool_calls=calls)


def said(ident: str, content: Any, **fields: Any) -> ToolMessage:
    return ToolMessage(content, tool_call_id=ident, **fields)


WEATHER: list[BaseMessage] = [
    HumanMessage("Weather in Oslo and Rome?"),
    asked("weather", "weather"),
    said("weather0", '{"sky": "clear"}'),
    said("weather1", "rain"),
]


def test_results_follow_their_request() -> None:
    conversation = read_conversation(WEATHER)
    assert conversation.inputs(3) == ["Weather in Oslo and Rome?", '[{"sky": "clear"}, "rain"]']
    first, second = conversation.turn.results
    assert (first.name, first.arguments, second.text) == ("weather", {"n": 0}, "rain")


def test_each_round_of_results_is_an_input() -> None:
    more = [*WEATHER, asked("mail"), said("mail0", "sent")]
    assert read_conversation(more).inputs(0)[1:] == ['[{"sky": "clear"}, "rain"]', '["sent"]']


@pytest.mark.parametrize(("earlier", "expected"), [(0, 1), (1, 3), (2, 5), (3, 5)])
def test_answered_turns_before_this_one_are_told(earlier: int, expected: int) -> None:
    history = [
        *WEATHER,
        AIMessage("Clear and rain."),
        *WEATHER,
        AIMessage("Again."),
        HumanMessage("x"),
    ]
    assert len(read_conversation(history).inputs(earlier)) == expected


def test_a_turn_without_results_is_not_told() -> None:
    history = [HumanMessage("Hello"), AIMessage("Hi"), HumanMessage("Bye")]
    assert read_conversation(history).inputs(3) == ["Bye"]


def test_messages_in_a_row_are_one_request() -> None:
    history = [HumanMessage("Weather?"), HumanMessage("In Oslo.")]
    assert read_conversation(history).inputs(0) == ["Weather?\nIn Oslo."]


def test_a_failed_result_is_told_as_an_error() -> None:
    history = [HumanMessage("x"), asked("f"), said("f0", "no such city", status="error")]
    assert read_conversation(history).inputs(0)[1] == '[{"error": "no such city"}]'


def test_a_long_result_is_cut_for_the_engine_only() -> None:
    conversation = read_conversation([HumanMessage("x"), asked("f"), said("f0", "a" * 1000)])
    assert len(conversation.inputs(0)[1]) < 420
    assert conversation.turn.results[0].text == "a" * 1000


def test_a_result_without_its_call_goes_by_its_own_name() -> None:
    history = [HumanMessage("x"), asked("f"), said("lost", "r", name="g")]
    assert read_conversation(history).turn.results[0].name == "g"


@pytest.mark.parametrize(
    ("prompt", "facts"),
    [
        ("You are helpful. Always be brief.", ""),
        ("date: 2026-12-01 Tue 10:00", "date: 2026-12-01 Tue 10:00"),
        (
            "Be brief.\ndate: 2026-12-01; locale: de\nuser: Ann",
            "date: 2026-12-01; locale: de; user: Ann",
        ),
        ("The update: never. My candidate: Bob", ""),
    ],
)
def test_only_facts_of_a_system_prompt_are_told(prompt: str, facts: str) -> None:
    assert read_conversation([SystemMessage(prompt), HumanMessage("x")]).facts == facts


def test_text_blocks_are_read() -> None:
    history = [HumanMessage([{"type": "text", "text": "a"}, "b"])]
    assert read_conversation(history).inputs(0) == ["ab"]


def test_an_image_is_refused() -> None:
    image = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
    with pytest.raises(
        InvalidInputError, match=r"Message 0 \(human\) holds a block of type 'image_url'"
    ):
        read_conversation([HumanMessage([image])])


@pytest.mark.parametrize("history", [[], [SystemMessage("x")], [AIMessage("Hello")], [asked("f")]])
def test_a_history_without_a_request_is_refused(history: list[BaseMessage]) -> None:
    with pytest.raises(ChatModelRequestError, match="no user message"):
        read_conversation(history)


def test_texts_that_c_code_cannot_read_are_cleaned() -> None:
    assert clean("a\0b\ud800c") == "a b?c"


def test_a_turn_can_be_asked_as_one_request() -> None:
    conversation = read_conversation([HumanMessage("x"), asked("f"), said("f0", "r" * 500)])
    assert conversation.as_one_request().startswith("x\nf: rrr")
    assert len(conversation.as_one_request()) < 420


def test_every_text_of_the_history_may_ground_an_argument() -> None:
    history = [SystemMessage("user: Ann"), *WEATHER, HumanMessage("Again")]
    assert len(read_conversation(history).told()) == 4
