"""Replies made of the engine's answers."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolCall, ToolMessage

from interlock.graph.models.embedded.answer import Answer, Call
from interlock.graph.models.embedded.conversation import Conversation, read_conversation
from interlock.graph.models.embedded.decision import Decision
from interlock.graph.models.embedded.reply import reply

OSLO = Call("weather", {"city": "Oslo"})
ROME = Call("weather", {"city": "Rome"})


def history(*texts: str) -> Conversation:
    messages: list[Any] = [HumanMessage("Weather in Oslo?")]
    for number, text in enumerate(texts):
        made = ToolCall(name="weather", args={"city": "Oslo"}, id=f"c{number}")
        messages += [AIMessage("", tool_calls=[made]), ToolMessage(text, tool_call_id=made["id"])]
    return read_conversation(messages)


def decision(*calls: Call, reasoning: str = "No tool fits.", **fields: Any) -> Decision:
    answer = Answer(calls, (), reasoning, 0.7, (), negated=False)
    return Decision(answer, calls, **fields)


def test_calls_have_ids_of_their_own() -> None:
    message = reply(history(), decision(OSLO, ROME), model_name="m")
    assert [call["args"]["city"] for call in message.tool_calls] == ["Oslo", "Rome"]
    assert len({call["id"] for call in message.tool_calls}) == 2
    assert message.text == ""
    assert message.response_metadata["finish_reason"] == "tool_calls"


def test_parallel_calls_can_be_forbidden() -> None:
    message = reply(history(), decision(OSLO, ROME), model_name="m", one_call=True)
    assert len(message.tool_calls) == 1


@pytest.mark.parametrize(
    ("results", "text"),
    [
        ([], "No tool fits."),
        (["clear, 7 degrees"], "clear, 7 degrees"),
        (["clear", "rain"], "weather: clear\nweather: rain"),
        ([""], "No tool fits."),
    ],
)
def test_without_calls_the_text_is_the_results_or_the_reasoning(
    results: list[str], text: str
) -> None:
    assert reply(history(*results), decision(), model_name="m").text == text


def test_there_is_always_some_text() -> None:
    assert reply(history(), decision(reasoning=""), model_name="m").text
    assert reply(history("clear"), None, model_name="m").text == "clear"


def test_confidence_and_reasoning_are_reported() -> None:
    metadata = reply(history(), decision(OSLO), model_name="m").response_metadata
    assert (metadata["confidence"], metadata["reasoning"]) == (0.7, "No tool fits.")
    assert metadata["model_name"] == "m"
    assert "withheld_calls" not in metadata


def test_withheld_calls_are_reported() -> None:
    given = decision(withheld=(OSLO,), reasons=("the request says not to",))
    metadata = reply(history(), given, model_name="m").response_metadata
    assert metadata["withheld_calls"] == [{"name": "weather", "args": {"city": "Oslo"}}]
    assert metadata["withheld_because"] == ["the request says not to"]
    assert metadata["finish_reason"] == "stop"
