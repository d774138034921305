"""The tour: all examples in order, and whether each kept what it promised."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from langchain_core.language_models import BaseChatModel
from rich.console import Console
from rich.text import Text

from . import course_recommendation, message_updates, password_guard, shopping_cart
from .stage import Stage

EXAMPLES: tuple[tuple[str, str, Callable[[Stage], None]], ...] = tuple(
    (example.TITLE, example.WHAT_FOR, example.show)
    for example in (password_guard, shopping_cart, course_recommendation, message_updates)
)
"""Title, purpose and action of each example."""


def take_tour(model: BaseChatModel, console: Console, folder: Path, *, model_name: str) -> bool:
    """Play all examples on a model and say whether all their claims held.

    An example that breaks off counts as a failed claim; the others are played all the same.

    Args:
        model: The model; everything it says is shown as it came.
        console: Where to print.
        folder: Where the pictures go.
        model_name: What the model is called.
    """
    stage = Stage(model, console, folder)
    began = time.monotonic()
    console.print(Text(f"interlock: a tour on the model {model_name}", style="bold"))
    for number, (title, what_for, show) in enumerate(EXAMPLES, 1):
        stage.begin(f"{number}. {title}", what_for)
        try:
            show(stage)
        except Exception as error:  # noqa: BLE001 - the boundary of an example
            stage.claim(
                f"the example runs to its end ({type(error).__name__}: {error})", holds=False
            )
    console.print()
    seconds = time.monotonic() - began
    for claim in stage.failed:
        console.print(Text(f"FAILED: {claim}", style="bold red"))
    total = stage.held + len(stage.failed)
    style = "bold red" if stage.failed else "bold green"
    console.print(Text(f"{stage.held} of {total} claims held, in {seconds:.1f} s", style=style))
    return not stage.failed
