"""``interlock run``: ask an agent that is stored in a file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

_File = Annotated[
    Path, typer.Argument(help="YAML file that Agent.to_yaml wrote.", show_default=False)
]
_Question = Annotated[
    str | None,
    typer.Argument(
        help="What to say; - is standard input. May be left out if the agent has a user prompt.",
        show_default=False,
    ),
]
_Set = Annotated[
    list[str] | None,
    typer.Option("--set", help="Template variable as name=value; may be repeated."),
]
_Register = Annotated[
    list[str] | None,
    typer.Option(
        help="Something the file names, as package.module:name, imported here: a tool, function, "
        "class, a list of them, or a Registry; may be repeated.",
    ),
]
_Secret = Annotated[
    list[str] | None,
    typer.Option("--allow-secret", help="Environment variable that its model may read."),
]
_Address = Annotated[
    list[str] | None,
    typer.Option("--allow-address", help="Address that its model may talk to."),
]
_Provider = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-provider",
        help="Provider that its models may be of, such as anthropic, instead of those that any "
        "file may name; may be repeated.",
    ),
]


def run(
    *,
    file: _File,
    question: _Question = None,
    pairs: _Set = None,
    register: _Register = None,
    allow_secret: _Secret = None,
    allow_address: _Address = None,
    allow_provider: _Provider = None,
) -> None:
    """Ask an agent that is stored in a file, once.

    The answer goes to standard output. The file itself imports and calls nothing: what it names
    beyond the guardrails of interlock, is named here. Variables are read from a .env file in the
    current folder.

    Exit codes: 0 the agent answered, 1 the run failed or waits for a person, 2 wrong arguments.
    """
    from ..stored import Allowed, ask, inputs_of, read_agent  # noqa: PLC0415 - `--help` needs none
    from ..talk import read_dotenv  # noqa: PLC0415

    read_dotenv(Path.cwd())
    inputs = inputs_of(pairs or [])
    allowed = Allowed(
        register or (), allow_secret or (), allow_address or (), allow_provider or None
    )
    agent = read_agent(file, allowed)
    said = sys.stdin.read() if question == "-" else question
    raise typer.Exit(0 if ask(agent, said, inputs) else 1)
