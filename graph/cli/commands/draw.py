"""``interlock draw``: the picture of an agent that is stored in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def draw(
    *,
    file: Annotated[
        Path, typer.Argument(help="YAML file that Agent.to_yaml wrote.", show_default=False)
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A .svg or .mmd file.", dir_okay=False),
    ] = None,
    hooks: Annotated[bool, typer.Option("--hooks", help="Show every hook.")] = False,
    register: Annotated[
        list[str] | None,
        typer.Option(
            help="Something the file names, as package.module:name, imported here; may be repeated."
        ),
    ] = None,
    allow_secret: Annotated[
        list[str] | None,
        typer.Option("--allow-secret", help="Environment variable that its model may read."),
    ] = None,
    allow_address: Annotated[
        list[str] | None,
        typer.Option("--allow-address", help="Address that its model may talk to."),
    ] = None,
    allow_provider: Annotated[
        list[str] | None,
        typer.Option("--allow-provider", help="Provider that its models may be of."),
    ] = None,
) -> None:
    """Draw an agent that is stored in a file; nothing of it runs, and no key is needed.

    Without --output the picture is Mermaid text on standard output.
    """
    from ..stored import Allowed, draw_to, read_agent  # noqa: PLC0415 - `--help` needs none

    allowed = Allowed(
        register or (), allow_secret or (), allow_address or (), allow_provider or None
    )
    draw_to(read_agent(file, allowed), output, hooks=hooks)
