"""``interlock approvals``: list and answer what waits for a person."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer


def approvals(
    *,
    db: Annotated[
        str | None,
        typer.Option(
            help="SQLite file of the paused threads, or postgresql://host/name; if it is not "
            "given, what INTERLOCK_DB says, or approvals.sqlite.",
            show_default=False,
        ),
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(
            help="The agent that goes on, as package.module:agent, imported here. Without it "
            "approvals are shown and not answered.",
            show_default=False,
        ),
    ] = None,
    web: Annotated[
        bool, typer.Option("--web", help="Answer in a page of the browser, on this machine.")
    ] = False,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of the page; 0 takes any that is free.")
    ] = 8320,
) -> None:
    """Answer what waits for a person: in the terminal, or with --web in the browser.

    Piped, it lists what waits as tab-separated lines: thread, time, id, tool, arguments.
    Variables are read from a .env file in the current folder.
    """
    from ..review import ReviewSettings, review  # noqa: PLC0415 - `--help` does not need it
    from ..talk import read_dotenv  # noqa: PLC0415

    read_dotenv(Path.cwd())
    database = db or os.environ.get("INTERLOCK_DB") or "approvals.sqlite"
    raise typer.Exit(review(ReviewSettings(db=database, agent=agent, web=web, port=port)))
