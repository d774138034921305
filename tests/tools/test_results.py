"""What a tool returns: text, JSON, updates of the state, commands."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langgraph.types import Command
from pydantic import BaseModel

from interlock.tools import (
    InjectedToolCallId,
    ToolPolicy,
)
from interlock.tools.results import CallResult

Execute = Callable[..., Awaitable[list[CallResult]]]


def call(name: str, args: dict[str, Any], ident: str = "c1") -> Any:
    return {"name": name, "args": args, "id": ident, "type": "tool_call"}


def _counting() -> Any:
    yield from range(3)


class Money(BaseModel):
    amount: int


@pytest.mark.parametrize("observed", [False, True])
@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is", "as it is"),
        ({"name": "Łódź", "n": [1, None]}, '{"name": "Łódź", "n": [1, null]}'),
        ([1, 2], "[1, 2]"),
        (None, "null"),
        (True, "true"),
        (Money(amount=3), '{"amount": 3}'),
        (Decimal("1.10"), '"1.10"'),
        (datetime(2026, 1, 2, tzinfo=UTC), '"2026-01-02T00:00:00Z"'),
        ({1, 2}, "[1, 2]"),
        ("half \ud83d", "half ?"),
    ],
)
async def test_results_are_text_or_json(
    execute: Execute, value: Any, text: str, observed: bool
) -> None:
    @tool
    def give() -> Any:
        """Give."""
        return value

    (result,) = await execute([give], call("give", {}), observed=observed)
    assert result.message.text == text
    assert (result.message.tool_call_id, result.message.name) == ("c1", "give")


@pytest.mark.parametrize("value", [object(), _counting(), open, asyncio.sleep])
async def test_a_result_without_json_form_is_an_error_naming_its_type(
    execute: Execute, value: Any
) -> None:
    @tool
    def give() -> Any:
        """Give."""
        return {"x": value} if callable(value) else value

    (result,) = await execute([give], call("give", {}))
    assert result.message.status == "error"
    assert "0x" not in result.message.text


async def test_a_long_result_is_cut_and_kept_whole_beside(execute: Execute) -> None:
    @tool
    def give() -> str:
        """Give."""
        return "x" * 5_000

    (result,) = await execute([give], call("give", {}), policy=ToolPolicy(max_result_chars=100))
    assert result.message.text == "x" * 100 + "\n[cut: 100 of 5000 characters are shown]"
    assert result.message.artifact == "x" * 5_000


@pytest.mark.parametrize("observed", [False, True])
async def test_a_dict_of_state_keys_updates_state(execute: Execute, observed: bool) -> None:
    @tool
    def add() -> Any:
        """Add."""
        return {"cart": ["pen", "ink"], "messages": []}

    (result,) = await execute([add], call("add", {}), observed=observed)
    assert result.updates == [{"cart": ["pen", "ink"], "messages": []}]
    assert result.message.text == '{"cart": ["pen", "ink"]}'


@pytest.mark.parametrize("value", [{"cart": [], "other": 1}, {"messages": []}, {}, {1: 2}])
async def test_any_other_dict_is_content(execute: Execute, value: Any) -> None:
    @tool
    def give() -> Any:
        """Give."""
        return value

    (result,) = await execute([give], call("give", {}))
    assert result.updates == []


async def test_a_command_updates_state_and_answers(execute: Execute) -> None:
    @tool
    def act(ident: Annotated[str, InjectedToolCallId]) -> Any:
        """Act."""
        answer = {"role": "tool", "content": "acted", "tool_call_id": ident}
        return Command(update={"cart": ["ink"], "messages": [answer]}, goto="end")

    (result,) = await execute([act], call("act", {}))
    assert result.message.text == "acted"
    assert result.updates == [{"cart": ["ink"], "messages": []}]
    assert [c.goto for c in result.commands] == ["end"]


async def test_a_command_without_an_answer_gets_one(execute: Execute) -> None:
    @tool
    def act() -> Any:
        """Act."""
        return [Command(update={"cart": []}), Command(update={"token": "x"})]

    (result,) = await execute([act], call("act", {}))
    assert result.message.text == "Updated cart, token."
    assert result.updates == [{"cart": []}, {"token": "x"}]


async def test_an_answer_to_another_call_is_an_error(execute: Execute) -> None:
    @tool
    def steal() -> Any:
        """Steal."""
        return ToolMessage("mine", tool_call_id="other")

    (result,) = await execute([steal], call("steal", {}))
    assert result.message.status == "error"
    assert "'steal'" in result.message.text
    assert "'other'" in result.message.text
