"""The terminal user interface with colours and frames; needs the extra ``cli``."""

from __future__ import annotations

import json
from typing import Any

from ...state.errors import MissingExtraError
from .confirmation import ConfirmationUIResult, UIAction
from .serialization import to_plain
from .ui import CHOICES, CONSOLE, NEWLINE, read_argument, visible


class RichConsoleUI:
    """Asks in the terminal, drawn with rich."""

    def __init__(self, console: Any = None) -> None:
        """Ask on ``console``, a ``rich.console.Console``; by default a new one.

        Raises:
            MissingExtraError: rich is not installed.
        """
        try:
            from rich.console import Console  # noqa: PLC0415 - an extra
        except ImportError as error:
            msg = "RichConsoleUI needs rich; install it with: pip install interlock[cli]"
            raise MissingExtraError(msg, extra="cli") from error
        self.console: Any = console if console is not None else Console()

    def get_user_confirmation(
        self, tool_name: str, tool_description: str, tool_params: dict[str, Any]
    ) -> ConfirmationUIResult:
        """Show the call and read the person's choice, again until it is one."""
        with CONSOLE:
            self._show(tool_name, tool_description, tool_params)
            typed = self._ask("Your choice", choices=["y", "n", "m", "r"], default="y")
            return self._finish(CHOICES[typed], tool_params)

    def to_dict(self) -> dict[str, Any]:
        """Plain data; the console itself is made anew."""
        return to_plain(self, console=None)

    def _finish(self, choice: UIAction, params: dict[str, Any]) -> ConfirmationUIResult:
        if choice == "reject":
            return ConfirmationUIResult(
                "reject", self._ask("Reason (optional)", default="") or None
            )
        if choice == "respond":
            return ConfirmationUIResult("respond", self._ask("Answer for the model", default=""))
        if choice == "modify":
            changed = {name: self._argument(name, value) for name, value in params.items()}
            return ConfirmationUIResult("modify", new_tool_params=changed)
        return ConfirmationUIResult("confirm")

    def _argument(self, name: str, value: Any) -> Any:
        shown = value if isinstance(value, str) else json.dumps(value)
        while True:
            try:
                return read_argument(self._ask(name, default=shown), value)
            except ValueError as error:
                self._print(f"This is no valid JSON value: {error}", style="red")

    def _show(self, name: str, description: str, params: dict[str, Any]) -> None:
        from rich.panel import Panel  # noqa: PLC0415 - an extra
        from rich.text import Text  # noqa: PLC0415

        # `Text` shows what the model wrote as it is: markup in it stays letters.
        text = Text()
        text.append("Tool: ", "bold yellow").append(f"{visible(name)}\n")
        text.append("Description: ", "bold yellow").append(f"{visible(description, NEWLINE)}\n")
        text.append("Arguments:", "bold yellow")
        for key, value in params.items():
            text.append(f"\n  {visible(key)}: ", "cyan").append(visible(value))
        if not params:
            text.append(" none")
        self.console.print(Panel(text, title="Tool Execution Request", title_align="left"))

    def _ask(self, label: str, **options: Any) -> str:
        from rich.prompt import Prompt  # noqa: PLC0415 - an extra
        from rich.text import Text  # noqa: PLC0415

        return Prompt.ask(Text(visible(label)), console=self.console, **options)

    def _print(self, text: str, style: str) -> None:
        self.console.print(text, style=style, markup=False)
