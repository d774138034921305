"""``interlock chat``: talk to any chat model, with or without tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def chat(
    *,
    model: Annotated[str, typer.Option(help="Chat model as provider:name.", show_default=False)],
    system: Annotated[str | None, typer.Option(help="System prompt.", show_default=False)] = None,
    tools: Annotated[
        list[str] | None,
        typer.Option(
            help="A tool as package.module:name, imported here; may be repeated.",
            show_default=False,
        ),
    ] = None,
    thread: Annotated[
        Path | None,
        typer.Option(
            help="SQLite file that keeps the conversation.", dir_okay=False, show_default=False
        ),
    ] = None,
    thread_id: Annotated[
        str | None,
        typer.Option(help="Which conversation of the file: 'chat' if not given."),
    ] = None,
    temperature: Annotated[
        float | None, typer.Option(help="Sampling temperature.", show_default=False)
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Address of the provider's API.", show_default=False)
    ] = None,
) -> None:
    """Talk to a model: a line is a question, answers come as they are written.

    Answers go to standard output; tools and errors go to standard error. Piped input is one
    question per line. Variables are read from a .env file in the current folder.
    """
    from ..talk import Settings, read_dotenv, talk  # noqa: PLC0415 - `--help` does not need it

    if thread_id is not None and thread is None:
        msg = "names a conversation of a file. Name the file too: --thread FILE."
        raise typer.BadParameter(msg, param_hint="--thread-id")
    read_dotenv(Path.cwd())
    settings = Settings(
        model=model,
        system=system,
        tools=tools or (),
        thread=thread,
        thread_id=thread_id or "chat",
        temperature=temperature,
        base_url=base_url,
    )
    raise typer.Exit(0 if talk(settings) else 1)
