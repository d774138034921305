"""How a person is shown a tool call and answers it: in a terminal, or through a function.

Source: the console of Haystack 3.4.1: the choices, strings taken as they are typed, everything
else as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from threading import Lock
from typing import Any, Protocol

from .confirmation import ConfirmationUIResult, UIAction
from .serialization import to_plain

CONSOLE = Lock()
"""One question at a time: there is one terminal, whatever runs at the same time."""

NEWLINE = "\n"

CHOICES: dict[str, UIAction] = {
    "y": "confirm",
    "yes": "confirm",
    "n": "reject",
    "no": "reject",
    "m": "modify",
    "modify": "modify",
    "r": "respond",
    "respond": "respond",
}
"""What a person may type."""


class ConfirmationUI(Protocol):
    """Shows a call and returns what the person chose.

    The method may be ``async def``; a user interface with both forms calls the second one
    ``get_user_confirmation_async``.
    """

    def get_user_confirmation(
        self, tool_name: str, tool_description: str, tool_params: dict[str, Any], /
    ) -> Any:
        """A ``ConfirmationUIResult``."""
        ...


class SimpleConsoleUI:
    """Asks in the terminal, with ``input`` and ``print``."""

    def get_user_confirmation(
        self, tool_name: str, tool_description: str, tool_params: dict[str, Any]
    ) -> ConfirmationUIResult:
        """Show the call and read the person's choice, again until it is one."""
        with CONSOLE:
            self._show(tool_name, tool_description, tool_params)
            prompt = "Confirm execution? (y=confirm / n=reject / m=modify / r=respond): "
            while (choice := CHOICES.get(input(prompt).strip().lower())) is None:
                self._say("Please type y, n, m or r.")
            return self._finish(choice, tool_params)

    def _finish(self, choice: UIAction, params: dict[str, Any]) -> ConfirmationUIResult:
        if choice == "confirm":
            return ConfirmationUIResult("confirm")
        if choice == "reject":
            return ConfirmationUIResult("reject", input("Reason (optional): ").strip() or None)
        if choice == "respond":
            return ConfirmationUIResult("respond", input("Answer for the model: "))
        if not params:
            self._say("There are no arguments to change.")
        changed = {name: self._argument(name, value) for name, value in params.items()}
        return ConfirmationUIResult("modify", new_tool_params=changed)

    def _argument(self, name: str, value: Any) -> Any:
        """A new value for one argument; an empty line keeps the old one."""
        shown = value if isinstance(value, str) else json.dumps(value)
        while True:
            typed = input(f"{visible(name)} (now: {visible(shown)}): ").strip() or shown
            try:
                return read_argument(typed, value)
            except ValueError as error:
                self._say(f"This is no valid JSON value: {error}")

    def _show(self, name: str, description: str, params: dict[str, Any]) -> None:
        arguments = [f"  {visible(k)}: {visible(v)}" for k, v in params.items()]
        lines = ["", "--- Tool Execution Request ---", f"Tool: {visible(name)}"]
        lines += [f"Description: {visible(description, NEWLINE)}", "Arguments:"]
        self._say("\n".join([*lines, *(arguments or ["  (no arguments)"])]))

    def _say(self, text: str) -> None:
        print(text)  # noqa: T201 - a terminal is what this class is for


class CallbackUI:
    """Asks through a function, ``def`` or ``async def``: a web page, a queue, a chat."""

    def __init__(self, callback: Callable[[str, str, dict[str, Any]], Any]) -> None:
        """Ask with ``callback(tool_name, tool_description, tool_params)``.

        It returns a ``ConfirmationUIResult``, now or when awaited.
        """
        self.get_user_confirmation = callback

    def to_dict(self) -> dict[str, Any]:
        """Not possible: a function is no data.

        Raises:
            ConfigurationError: Always.
        """
        return to_plain(self, callback=self.get_user_confirmation)


def visible(value: Any, allowed: str = "") -> str:
    """A value as text that cannot move the cursor, clear the screen or turn letters round.

    What a model wrote could otherwise draw another question than the one that is asked.

    Args:
        value: Anything.
        allowed: Control characters that stay.
    """
    return "".join(
        c if c.isprintable() or c in allowed else c.encode("unicode_escape").decode()
        for c in str(value)
    )


def read_argument(typed: str, current: Any) -> Any:
    """What was typed for an argument: text for one that is text, else a JSON value.

    Raises:
        ValueError: It is no JSON value.
    """
    return typed if isinstance(current, str) else json.loads(typed)
