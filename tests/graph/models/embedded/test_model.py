"""The chat model before any engine is asked."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolCall, ToolMessage
from langchain_core.tools import tool

from interlock.graph.models import EmbeddedChatModel, init_chat_model
from interlock.state.errors import ConfigurationError, ToolDefinitionError
from interlock.state.model_errors import ChatModelContextOverflowError, ChatModelRequestError

Ask = Callable[..., Any]


@tool
def get_weather(city: str) -> str:
    """Get the current weather for a city."""
    return f"It is sunny in {city}."


ANSWERED = [
    HumanMessage("Weather in Oslo?"),
    AIMessage("", tool_calls=[ToolCall(name="get_weather", args={"city": "Oslo"}, id="c1")]),
    ToolMessage("It is sunny in Oslo.", tool_call_id="c1"),
]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"model": "needle9"}, "model: Input should be 'needle3'"),
        ({"temperature": 0.5}, "temperature: Extra inputs"),
        ({"max_workers": 0}, "max_workers"),
        ({"timeout_s": -1}, "timeout_s"),
        ({"earlier_turns": 9}, "earlier_turns"),
    ],
)
def test_a_wrong_setting_is_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        EmbeddedChatModel(**settings)


def test_it_goes_by_its_name(model: EmbeddedChatModel) -> None:
    named = init_chat_model("embedded:needle3", max_tools=3)
    assert isinstance(named, EmbeddedChatModel)
    assert (named.model, named.max_tools) == (model.model, 3)


def test_the_engine_is_not_loaded_into_this_process(model: EmbeddedChatModel) -> None:
    assert model.model == "needle3"
    assert "needle" not in sys.modules


def test_tools_are_checked_when_they_are_bound(model: EmbeddedChatModel) -> None:
    with pytest.raises(ToolDefinitionError, match="web_search"):
        model.bind_tools([{"type": "web_search"}])
    with pytest.raises(ConfigurationError, match="takes 32"):
        model.bind_tools([{"name": f"t{n}", "description": "A tool."} for n in range(33)])
    with pytest.raises(ConfigurationError, match="names 'other'"):
        model.bind_tools([get_weather], tool_choice="other")


@pytest.mark.parametrize("choice", [None, "none"])
def test_without_tools_there_is_nothing_to_say(
    model: EmbeddedChatModel, ask: Ask, choice: str | None
) -> None:
    asked = model.bind_tools([get_weather], tool_choice=choice) if choice else model
    with pytest.raises(ChatModelRequestError, match="writes no text of its own"):
        ask(asked, "What is the capital of France?")


@pytest.mark.parametrize("choice", [None, "none"])
def test_without_tools_results_are_still_the_answer(
    model: EmbeddedChatModel, ask: Ask, choice: str | None
) -> None:
    asked = model.bind_tools([get_weather], tool_choice=choice) if choice else model
    assert ask(asked, ANSWERED).text == "It is sunny in Oslo."


def test_it_streams_its_answer_in_one_piece(model: EmbeddedChatModel) -> None:
    assert [piece.text for piece in model.stream(ANSWERED)] == ["It is sunny in Oslo."]


def test_a_request_that_is_too_long_is_refused(model: EmbeddedChatModel, ask: Ask) -> None:
    with pytest.raises(ChatModelContextOverflowError, match="about 300 tokens"):
        ask(model.bind_tools([get_weather]), "word " * 300)


def test_a_response_format_is_refused(model: EmbeddedChatModel, ask: Ask) -> None:
    with pytest.raises(ChatModelRequestError, match="no response_format"):
        ask(model.bind(response_format={"type": "json_object"}))


def test_structured_output_has_one_method(model: EmbeddedChatModel) -> None:
    unknown: Any = "json_schema"
    with pytest.raises(ConfigurationError, match="no method 'json_schema'"):
        model.with_structured_output({"title": "T", "type": "object"}, method=unknown)


def test_traces_name_provider_and_model(model: EmbeddedChatModel) -> None:
    assert model.asdict()["model"] == "needle3"
    assert model.profile is not None
    assert model.profile.get("tool_calling") is True
