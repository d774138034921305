"""The loop of ``interlock chat``: read a line, answer it, until there are no more lines."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import typer
from langchain_core.language_models import BaseChatModel

from ....state.errors import InvalidInputError
from ...agent import create_agent
from ...models import init_chat_model
from .dialogue import Dialogue
from .named_tools import named_tools
from .screen import Screen
from .thread_file import open_thread

_END = "/exit"


@dataclass(frozen=True)
class Settings:
    """What a chat is started with."""

    model: str
    """The chat model as ``provider:name``."""
    system: str | None = None
    """The system prompt."""
    tools: Sequence[str] = ()
    """Tools, each as ``package.module:name``."""
    thread: Path | None = None
    """The SQLite file that keeps the conversation."""
    thread_id: str = "chat"
    """Which conversation of the file goes on."""
    temperature: float | None = None
    """Passed to the model if given, as is ``base_url``."""
    base_url: str | None = None

    def for_the_model(self) -> dict[str, Any]:
        """The settings that were given to the model."""
        given = {"temperature": self.temperature, "base_url": self.base_url}
        return {name: value for name, value in given.items() if value is not None}


def talk(settings: Settings) -> bool:
    """Hold a conversation on standard input and output.

    On a terminal each line is prompted for, and Ctrl-C stops an answer. From a pipe each line is
    a question.

    Args:
        settings: What to talk to, and how.

    Returns:
        Whether every question was answered; on a terminal a person has seen what was not, so
        it is always true.

    Raises:
        ConfigurationError: The model, a tool or a setting cannot be used.
        StorageError: The thread file cannot be used.
        InvalidInputError: A line is no text.
    """
    tools = named_tools(settings.tools)
    # Without configurable fields the model is a fixed one.
    model = cast("BaseChatModel", init_chat_model(settings.model, **settings.for_the_model()))
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        try:
            stack.push_async_callback(_closed, model)
            saver = runner.run(stack.enter_async_context(open_thread(settings.thread)))
            agent = create_agent(
                model, tools, system_prompt=settings.system, checkpointer=saver, name="chat"
            )
            dialogue = Dialogue(agent, settings.thread_id, Screen())
            return _converse(runner, dialogue, settings)
        finally:
            runner.run(stack.aclose())


def _converse(runner: asyncio.Runner, dialogue: Dialogue, settings: Settings) -> bool:
    is_terminal = sys.stdin.isatty()
    known = runner.run(dialogue.begin())
    if is_terminal:
        _greet(settings, known)
    answered = True
    while (line := _next_line(is_terminal=is_terminal)) is not None:
        question = line.strip()
        if question == _END:
            break
        if not question:
            continue
        try:
            answered = runner.run(dialogue.ask(question)) and answered
        except KeyboardInterrupt:
            if not is_terminal:
                raise
            typer.secho("\n[stopped]", err=True, dim=True)
    return answered or is_terminal


def _next_line(*, is_terminal: bool) -> str | None:
    """The next line, or None at the end."""
    try:
        if is_terminal:
            return _typed_line()
        return sys.stdin.readline() or None
    except UnicodeDecodeError as error:
        msg = f"The input is not {error.encoding} text ({error.reason}). Convert it and try again."
        raise InvalidInputError(msg) from None


def _typed_line() -> str | None:
    while True:
        try:
            return input("> ")
        except EOFError:
            typer.echo()
            return None
        except KeyboardInterrupt:  # forget the line, as shells do
            typer.echo()


def _greet(settings: Settings, known: int) -> None:
    if find_spec("readline"):  # gives input() its line editing, where there is one
        import_module("readline")
    kept = f", {known} messages so far" if known else ""
    typer.secho(f"{settings.model}{kept}. {_END} or Ctrl-D ends.", err=True, dim=True)


async def _closed(model: Any) -> None:
    """Close what a model keeps open, if it is one that can be closed."""
    if aclose := getattr(model, "aclose", None):
        await aclose()
    elif close := getattr(model, "close", None):
        close()
