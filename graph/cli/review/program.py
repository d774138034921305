"""``interlock approvals`` from its settings to an exit code."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from ...approvals import open_threads
from .desk import NO_AGENT, Desk
from .dialogue import Dialogue
from .named_agent import named_agent
from .table import show_lines, show_table

DONE, STOPPED = 0, 130


@dataclass(frozen=True, kw_only=True)
class ReviewSettings:
    """What the command was given."""

    db: str
    """A SQLite file, or the address of a PostgreSQL database."""
    agent: str | None = None
    """``package.module:agent``."""
    web: bool = False
    port: int = 0


def review(settings: ReviewSettings) -> int:
    """Show what waits and take answers; gives an exit code.

    Raises:
        ConfigurationError: The agent cannot be imported, or the port is taken.
        MissingExtraError: An extra is not installed.
        StorageError: The database cannot be read.
    """
    agent = None if settings.agent is None else named_agent(settings.agent)
    desk = Desk(open_threads(settings.db), agent)
    try:
        if settings.web:
            _serve(desk, settings.port)
        elif not sys.stdout.isatty():
            show_lines(sys.stdout, desk.waiting())
        elif desk.agent is None or not sys.stdin.isatty():
            console, threads = Console(), desk.waiting()
            show_table(console, threads, desk.database.name)
            if threads and desk.agent is None:
                console.print(Text(NO_AGENT, "dim"))
        else:
            Dialogue(desk, Console()).hold()
    except KeyboardInterrupt:
        return DONE if settings.web else STOPPED
    return DONE


def _serve(desk: Desk, port: int) -> None:
    from .web import serve  # noqa: PLC0415 - an extra

    desk.waiting()  # a database that cannot be read is told before the page is there

    def say(address: str) -> None:
        sys.stdout.write(f"Review at {address}\nCtrl-C ends.\n")
        sys.stdout.flush()

    serve(desk, port, say)
