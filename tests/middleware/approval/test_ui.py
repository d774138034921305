"""A person at a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from interlock.middleware import CallbackUI, ConfirmationUIResult, SimpleConsoleUI
from interlock.middleware.approval.serialization import to_plain
from interlock.middleware.approval.ui import visible
from interlock.state import ConfigurationError

Type = Callable[..., None]


@pytest.fixture
def type_in(monkeypatch: pytest.MonkeyPatch) -> Type:
    """``type_in("y", ...)``: what the person types, line by line."""

    def make(*lines: str) -> None:
        typed: Iterator[str] = iter(lines)
        monkeypatch.setattr("builtins.input", lambda _prompt="": next(typed))

    return make


def ask(**params: Any) -> ConfirmationUIResult:
    return SimpleConsoleUI().get_user_confirmation("send", "Send a letter.", params)


@pytest.mark.parametrize("word", ["y", "yes", " Y ", "YES"])
def test_yes_confirms(type_in: Type, word: str) -> None:
    type_in(word)
    assert ask(to="a") == ConfirmationUIResult("confirm")


@pytest.mark.parametrize(("reason", "feedback"), [("too late", "too late"), ("", None)])
def test_no_rejects_with_the_reason_if_one_is_given(
    type_in: Type, reason: str, feedback: str | None
) -> None:
    type_in("no", reason)
    assert ask(to="a") == ConfirmationUIResult("reject", feedback)


def test_junk_is_asked_again(type_in: Type, capsys: pytest.CaptureFixture[str]) -> None:
    type_in("maybe", "", "y")
    assert ask(to="a").action == "confirm"
    assert capsys.readouterr().out.count("Please type") == 2


def test_modify_takes_text_as_typed_and_everything_else_as_json(type_in: Type) -> None:
    type_in("m", "[1]", "two", "2", "")
    result = ask(to="a", copies=1, urgent=True)
    assert result.new_tool_params == {"to": "[1]", "copies": 2, "urgent": True}


def test_modify_without_arguments_changes_nothing(type_in: Type) -> None:
    type_in("modify")
    assert ask().new_tool_params == {}


def test_person_may_answer_for_the_tool(type_in: Type) -> None:
    type_in("r", "it is done")
    assert ask(to="a") == ConfirmationUIResult("respond", "it is done")


def test_what_a_model_wrote_cannot_draw_on_the_terminal(
    type_in: Type, capsys: pytest.CaptureFixture[str]
) -> None:
    type_in("y")
    ask(to="a\x1b[2J\n--- Tool Execution Request ---\u202e")
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert shown.count("\n--- Tool") == 1


def test_ordinary_text_of_any_language_is_shown_as_it_is() -> None:
    assert visible("Grüße, 你好 🙂") == "Grüße, 你好 🙂"


def test_callback_cannot_be_written_down() -> None:
    with pytest.raises(ConfigurationError, match="CallbackUI"):
        to_plain(CallbackUI(SimpleConsoleUI().get_user_confirmation))
