"""The same questions, drawn with rich."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from interlock.middleware import ConfirmationUIResult, RichConsoleUI


def ask(monkeypatch: pytest.MonkeyPatch, *lines: str, **params: Any) -> tuple[Any, str]:
    """What the user interface returns, and what it drew."""
    typed = iter(lines)
    monkeypatch.setattr("builtins.input", lambda _prompt="": next(typed))
    drawn = io.StringIO()
    ui = RichConsoleUI(Console(file=drawn, width=100))
    return ui.get_user_confirmation("send", "Send a letter.", params), drawn.getvalue()


def test_call_is_shown_and_the_default_is_yes(monkeypatch: pytest.MonkeyPatch) -> None:
    result, drawn = ask(monkeypatch, "", to="a")
    assert result == ConfirmationUIResult("confirm")
    assert all(part in drawn for part in ("send", "Send a letter.", "to: a"))


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["n", "too late"], ConfirmationUIResult("reject", "too late")),
        (["n", ""], ConfirmationUIResult("reject")),
        (["r", "done"], ConfirmationUIResult("respond", "done")),
        (["x", "y"], ConfirmationUIResult("confirm")),
        (
            ["m", "b", "two", "2"],
            ConfirmationUIResult("modify", None, {"to": "b", "copies": 2}),
        ),
    ],
)
def test_choices(monkeypatch: pytest.MonkeyPatch, lines: list[str], expected: Any) -> None:
    assert ask(monkeypatch, *lines, to="a", copies=1)[0] == expected


def test_markup_and_control_characters_stay_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    _, drawn = ask(monkeypatch, "y", to="[red]a[/red]\x1b[2J")
    assert "[red]a[/red]" in drawn
    assert "\x1b[2J" not in drawn


def test_it_is_written_down_without_its_console() -> None:
    plain = {"type": "RichConsoleUI", "init_parameters": {"console": None}}
    assert RichConsoleUI(Console(file=io.StringIO())).to_dict() == plain
