"""``interlock demo``: a tour of an agent at work, on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def demo(
    output: Annotated[
        Path, typer.Option(help="Folder for the pictures of the graph.", file_okay=False)
    ] = Path("demo-output"),
    model: Annotated[
        str, typer.Option(help="Chat model as provider:name; the embedded one needs no key.")
    ] = "embedded:needle3",
) -> None:
    """Take a tour: four examples on a real model, each of them checked."""
    from rich.console import Console  # noqa: PLC0415 - `--help` does not need it

    from ...models import init_chat_model  # noqa: PLC0415
    from ..tour import take_tour  # noqa: PLC0415

    chat_model = init_chat_model(model)
    console = Console(highlight=False)
    try:
        held = take_tour(chat_model, console, output, model_name=model)
    finally:
        if close := getattr(chat_model, "close", None):
            close()
    raise typer.Exit(0 if held else 1)
