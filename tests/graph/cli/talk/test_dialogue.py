from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.types import interrupt

Say = Callable[..., Awaitable[list[bool]]]
Capture = pytest.CaptureFixture[str]


def call(name: str, **arguments: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": "c1"}])


def confirm(what: str) -> str:
    """Ask a person."""
    return f"{what}: {interrupt('sure?')}"


async def double(number: int) -> int:
    """Double a number."""
    return 2 * number


async def test_a_tool_that_asks_gets_the_next_line(say: Say, capsys: Capture) -> None:
    steps = [call("confirm", what="delete"), "done"]
    assert await say(steps, "delete it", "yes", tools=[confirm]) == [True, True]
    out, err = capsys.readouterr()
    assert "[a tool asks: sure?]" in err
    assert "[confirm -> delete: yes]" in err
    assert out == "done\n"


async def test_a_question_of_an_earlier_process_is_shown_and_answered(
    say: Say, capsys: Capture
) -> None:
    await say([call("confirm", what="delete")], "delete it", tools=[confirm], kept=True)
    capsys.readouterr()
    assert await say(["done"], "yes", tools=[confirm], kept=True) == [True]
    out, err = capsys.readouterr()
    assert err.splitlines()[0] == "[a tool asks: sure?]"
    assert out == "done\n"


async def test_results_are_shown_in_each_turn_even_if_ids_repeat(say: Say, capsys: Capture) -> None:
    steps = [call("double", number=1), "two", call("double", number=2), "four"]
    await say(steps, "1?", "2?", tools=[double])
    assert [line for line in capsys.readouterr().err.splitlines() if "->" in line] == [
        "[double -> 2]",
        "[double -> 4]",
    ]


async def test_a_call_that_is_refused_is_shown(say: Say, capsys: Capture) -> None:
    await say([call("nothing"), "sorry"], "go", tools=[double])
    assert "[nothing failed: " in capsys.readouterr().err


async def test_any_failure_is_one_line(say: Say, capsys: Capture) -> None:
    assert await say([OSError("no\nroute"), "here"], "a", "b") == [False, True]
    assert capsys.readouterr() == ("here\n", "error: OSError: no route\n")
