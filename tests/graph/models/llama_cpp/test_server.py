"""The client against a server nobody here wrote: what is on its wire, not what the model knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from interlock.graph.models import OpenAICompatibleChatModel
from interlock.state.model_errors import ChatModelContextOverflowError, ChatModelRequestError

pytestmark = pytest.mark.slow  # starts a model's server

Ask = Callable[..., Any]


class Person(BaseModel):
    """A person."""

    name: str
    age: int


def get_weather(city: str) -> str:
    """Get the weather in a city."""
    return f"sunny in {city}"


def test_an_answer_has_text_usage_and_its_end(llama: OpenAICompatibleChatModel, ask: Ask) -> None:
    answer = ask(llama, "Say hello.", max_tokens=4)
    assert answer.text
    assert answer.response_metadata["finish_reason"] == "length"
    assert answer.usage_metadata["output_tokens"] == 4
    assert answer.usage_metadata["input_tokens"] > 4


def test_a_streamed_answer_has_the_same(llama: OpenAICompatibleChatModel, gather: Ask) -> None:
    answer = gather(llama, "Say hello.", max_tokens=4)
    assert answer.text
    assert answer.response_metadata["finish_reason"] == "length"
    assert answer.usage_metadata["output_tokens"] == 4
    assert answer.chunk_position == "last"


def test_tools_are_sent_and_a_call_is_read(
    llama: OpenAICompatibleChatModel, ask: Ask, call_to_repeat: str
) -> None:
    answer = ask(llama.bind_tools([get_weather]), call_to_repeat)
    (call,) = answer.tool_calls
    assert (call["name"], call["args"]) == ("get_weather", {"city": "Paris"})
    assert call["id"]
    assert answer.response_metadata["finish_reason"] == "tool_calls"


def test_a_streamed_call_is_put_together(
    llama: OpenAICompatibleChatModel, gather: Ask, call_to_repeat: str
) -> None:
    answer = gather(llama.bind_tools([get_weather], tool_choice="required"), call_to_repeat)
    (call,) = answer.tool_calls
    assert (call["name"], call["args"]) == ("get_weather", {"city": "Paris"})
    assert (answer.text, answer.invalid_tool_calls) == ("", [])


def test_a_schema_is_held(llama: OpenAICompatibleChatModel, ask: Ask) -> None:
    person = ask(llama.with_structured_output(Person, method="json_schema"), "Anna is 31.")
    assert isinstance(person, Person)


def test_a_refused_request_is_an_error_with_the_servers_words(
    llama: OpenAICompatibleChatModel, ask: Ask, gather: Ask
) -> None:
    schema = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "nonsense"}}}
    for how in (ask, gather):
        with pytest.raises(ChatModelRequestError, match="nonsense") as caught:
            how(llama, "hi", response_format=schema)
        assert caught.value.status == 400


def test_too_long_a_request_is_an_overflow(
    llama: OpenAICompatibleChatModel, ask: Ask, gather: Ask
) -> None:
    for how in (ask, gather):
        with pytest.raises(ChatModelContextOverflowError, match="1024 tokens"):
            how(llama, "word " * 2000)
