"""The tour of `interlock demo`, on a script: it passes only if every claim holds."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage
from rich.console import Console

from interlock.graph.cli.tour import take_tour
from interlock.graph.models import ScriptedChatModel

Tour = Callable[..., tuple[bool, str]]


def call(*calls: tuple[str, dict[str, Any]]) -> AIMessage:
    made = [
        {"name": name, "args": args, "id": f"c{n}", "type": "tool_call"}
        for n, (name, args) in enumerate(calls)
    ]
    return AIMessage("", tool_calls=made)


def last(messages: list[BaseMessage]) -> str:
    return messages[-1].text


BOOK = ("add_to_cart", {"item": "Python textbook", "price": 49.9})
NOTEBOOK = ("add_to_cart", {"item": "notebook", "price": 5.5})
COURSE = {"course_name": "Python from Zero", "reason": "simple syntax", "difficulty": "beginner"}
STEPS: list[Any] = [
    call(("find_course", {"topic": "Python"})),
    last,
    call(BOOK, NOTEBOOK),
    "Both are in the cart.",
    call(("view_cart", {})),
    last,
    call(("CourseRecommendation", COURSE)),
]


@pytest.fixture
def tour(tmp_path: Path) -> Tour:
    """``tour(*steps)``: whether the tour passes on a script, and what it prints."""

    def take(*steps: Any) -> tuple[bool, str]:
        printed = io.StringIO()
        console = Console(file=printed, width=200)
        held = take_tour(
            ScriptedChatModel(steps), console, tmp_path / "pictures", model_name="a script"
        )
        return held, printed.getvalue()

    return take


def changed(position: int, step: Any) -> list[Any]:
    return [*STEPS[:position], step, *STEPS[position + 1 :]]


def test_every_claim_holds_on_a_good_model(tour: Tour) -> None:
    held, printed = tour(*STEPS)

    assert held
    assert "FAILED" not in printed
    assert "21 of 21 claims held" in printed


@pytest.mark.parametrize(
    ("position", "step", "claim"),
    [
        (0, "Learn it somewhere.", "the model called find_course"),
        (1, "There is a course.", "the answer is what the tool found"),
        (2, call(BOOK), "add_to_cart ran for each item"),
        (
            2,
            call(BOOK, ("add_to_cart", {"item": "pen", "price": 5.5})),
            "the result shows the cart",
        ),
        (2, call(BOOK, ("add_to_cart", {**NOTEBOOK[1], "price": 55})), "and what all of it costs"),
        (4, call(BOOK), "the model called view_cart"),
        (6, call(("CourseRecommendation", {**COURSE, "difficulty": "advanced"})), "difficulty"),
        (6, RuntimeError("gone"), "the example runs to its end (RuntimeError: gone)"),
    ],
)
def test_a_claim_that_does_not_hold_fails_the_tour(
    tour: Tour, position: int, step: Any, claim: str
) -> None:
    held, printed = tour(*changed(position, step), *STEPS[6:])

    assert not held
    assert f"FAILED: {claim}" in printed


def test_an_example_that_breaks_off_does_not_end_the_tour(tour: Tour) -> None:
    _held, printed = tour(RuntimeError("gone"), *STEPS[2:])

    assert "FAILED: the example runs to its end (RuntimeError: gone)" in printed
    assert "4. Messages replaced and removed" in printed
    assert "a hook does the same in a thread" in printed


def test_each_node_says_what_happened_in_it(tour: Tour) -> None:
    lines = [line.rstrip() for line in tour(*STEPS)[1].splitlines()]
    begin = lines.index("user     I want to learn Python, find me a course")

    shown = [line.replace("(0.0 s)", "").rstrip() for line in lines[begin + 1 : begin + 6]]
    assert shown == [
        "model    check_question.before_model changed nothing",
        "         the model called find_course(topic='Python')",
        "tools    find_course gave Python from Zero, on Mondays at six",
        "model    check_question.before_model changed nothing",
        "         the model answered Python from Zero, on Mondays at six",
    ]
    assert "model    check_question.before_model jumped to end" in lines
    assert '         state: cart is now ["Python textbook", "notebook"]' in lines


def test_pictures_are_written(tour: Tour, tmp_path: Path) -> None:
    tour(*STEPS)

    assert sorted(path.name for path in (tmp_path / "pictures").iterdir()) == [
        "password-guard-hooks.mmd",
        "password-guard-hooks.svg",
        "password-guard.mmd",
        "password-guard.svg",
    ]


def test_a_folder_that_cannot_be_made_fails_the_tour(tour: Tour, tmp_path: Path) -> None:
    (tmp_path / "pictures").write_text("a file")

    held, printed = tour(*STEPS)

    assert not held
    assert "FileExistsError" in printed


def test_what_a_model_says_cannot_command_the_terminal(tour: Tour) -> None:
    _held, printed = tour(*changed(1, "Python from Zero \x1b[2J [red]now[/red]"))

    assert "\x1b" not in printed
    assert "[red]now[/red]" in printed
