"""The commands, made into one application."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from pkgutil import iter_modules
from typing import Annotated

import typer

from . import commands


def build_app() -> typer.Typer:
    """An application with every command there is.

    A command is a file in ``commands/`` with a function of the same name.
    """
    app = typer.Typer(
        name="interlock",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,  # it would print the values of local variables
    )
    app.callback()(_about)
    for found in iter_modules(commands.__path__):
        module = import_module(f"{commands.__name__}.{found.name}")
        app.command(found.name.replace("_", "-"))(getattr(module, found.name))
    return app


def _say_version(asked: bool) -> None:
    if not asked:
        return
    typer.echo(f"interlock {version('interlock')}")
    raise typer.Exit


def _about(
    *,
    show_version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Show the version and exit.",
            is_eager=True,
            callback=_say_version,
        ),
    ] = False,
) -> None:
    """LangGraph agents with middleware guardrails."""
