"""The tools that a scripted model is offered, their choice, and the ids of its calls."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    InvalidToolCall,
    ToolCall,
)
from langchain_core.tools import tool
from pydantic import BaseModel
from typing_extensions import TypedDict

from interlock.graph.models import ScriptedChatModel
from interlock.state.errors import ConfigurationError, ToolDefinitionError
from interlock.state.model_errors import ScriptError

Ask = Callable[..., Any]


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def adding(ident: str = "c1") -> AIMessage:
    return AIMessage("", tool_calls=[ToolCall(name="add", args={"a": 1, "b": 2}, id=ident)])


def invalid() -> AIMessage:
    call = InvalidToolCall(name="add", args="{", id="c1", error=None, type="invalid_tool_call")
    return AIMessage("", invalid_tool_calls=[call])


class Weather(BaseModel):
    """Ask for the weather."""

    city: str


class Time(TypedDict):
    """Ask for the time."""

    city: str


def plain(city: str) -> str:
    """Ask plainly."""
    return city


FORMS: list[Any] = [
    add,
    Weather,
    Time,
    plain,
    {"name": "raw", "description": "Raw.", "parameters": {"type": "object", "properties": {}}},
    {"type": "function", "function": {"name": "wired", "parameters": {"type": "object"}}},
]


def test_tools_of_any_form_are_offered_in_one(ask: Ask) -> None:
    model = ScriptedChatModel(["a"])
    ask(model.bind_tools(FORMS))
    names = [offered["function"]["name"] for offered in model.options[0]["tools"]]
    assert names == ["add", "Weather", "Time", "plain", "raw", "wired"]
    assert "tool_choice" not in model.options[0]


def test_tools_that_cannot_be_bound_are_refused() -> None:
    model = ScriptedChatModel(["a"])
    with pytest.raises(ToolDefinitionError, match="named 'add'"):
        model.bind_tools([add, add])
    with pytest.raises(ConfigurationError, match="names 'sub'"):
        model.bind_tools([add], tool_choice="sub")


@pytest.mark.parametrize(
    ("choice", "step", "broken"),
    [
        ("any", "text", "forces some tool call, but step 0 calls none"),
        ("required", "text", "forces some tool call"),
        (True, "text", "forces some tool call"),
        ("add", "text", r"forces a call of 'add', but step 0 calls \[\]"),
        ({"type": "function", "function": {"name": "add"}}, "text", "forces a call of 'add'"),
        ("plain", adding(), r"forces a call of 'plain', but step 0 calls \['add'\]"),
        ("none", adding(), r"forbids tool calls, but step 0 calls \['add'\]"),
        (False, invalid(), "forbids tool calls"),
    ],
)
def test_a_script_that_ignores_the_tool_choice_is_an_error(
    ask: Ask, choice: Any, step: Any, broken: str
) -> None:
    model = ScriptedChatModel([step]).bind_tools([add, plain], tool_choice=choice)
    with pytest.raises(ScriptError, match=broken):
        ask(model)


@pytest.mark.parametrize(
    ("choice", "step"),
    [
        ("auto", "text"),
        ("auto", adding()),
        ("any", adding()),
        ("any", invalid()),
        ("add", adding()),
        ("none", "text"),
        ("any", OSError("down")),
    ],
)
def test_a_script_that_follows_the_tool_choice_plays(choice: str, step: Any) -> None:
    model = ScriptedChatModel([step])
    with suppress(OSError):
        model.bind_tools([add, plain], tool_choice=choice).invoke("hi")
    assert model.calls == 1


def test_structured_output_reads_the_call(ask: Ask) -> None:
    call = ToolCall(name="Weather", args={"city": "Oslo"}, id="c1")
    model = ScriptedChatModel([AIMessage("", tool_calls=[call])])
    assert ask(model.with_structured_output(Weather)) == Weather(city="Oslo")


def test_a_message_played_again_has_new_ids(ask: Ask) -> None:
    step = AIMessage("", id="m1", tool_calls=adding().tool_calls)
    model = ScriptedChatModel([step, step], repeat_last=True)
    replies = [ask(model) for _ in range(3)]
    assert [reply.tool_calls[0]["id"] for reply in replies] == ["c1", "c1-2", "c1-3"]
    assert replies[0].id == "m1"
    assert len({reply.id for reply in replies}) == 3


def test_ids_in_content_blocks_follow_those_of_the_calls(ask: Ask) -> None:
    block: Any = adding().tool_calls[0]
    step = AIMessage(content_blocks=[{"type": "text", "text": "so"}, block])
    model = ScriptedChatModel([step], repeat_last=True)
    ask(model)
    again = ask(model)
    assert again.tool_calls[0]["id"] == "c1-2"
    assert again.content_blocks[1].get("id") == "c1-2"


def test_ids_of_invalid_calls_are_new_too(ask: Ask) -> None:
    model = ScriptedChatModel([invalid()], repeat_last=True)
    assert [ask(model).invalid_tool_calls[0]["id"] for _ in range(2)] == ["c1", "c1-2"]


def test_a_function_chooses_its_ids_itself(ask: Ask) -> None:
    model = ScriptedChatModel([lambda _: adding("mine")], repeat_last=True)
    assert [ask(model).tool_calls[0]["id"] for _ in range(2)] == ["mine", "mine"]


def test_a_reply_may_be_changed_without_harm_to_the_script(ask: Ask) -> None:
    step = adding()
    model = ScriptedChatModel([step], repeat_last=True)
    ask(model).tool_calls[0]["args"]["a"] = 100
    assert ask(model).tool_calls[0]["args"] == {"a": 1, "b": 2}
    assert step.id is None
