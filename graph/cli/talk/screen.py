"""What a person sees of a conversation: answers as they come, and tools as they run."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import AsyncIterator, Iterator, Mapping
from threading import RLock
from typing import Any, cast
from uuid import UUID

import typer
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage, ToolMessage
from langchain_core.outputs import LLMResult

from ...drawing.lettering import printable

_LONGEST = 200
"""Characters of arguments or of a result that are shown."""

_JOINERS = frozenset("\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}")
"""Invisible, but needed to write Persian, and to draw many an emoji."""


class Screen(BaseCallbackHandler):
    """Prints answers to standard output, and everything else to standard error.

    So a pipe receives the answers alone. Nothing that a model or a tool says can move the cursor
    or change the terminal: what is no letter is shown as a placeholder.
    """

    run_inline = True
    raise_error = True

    def __init__(self) -> None:
        self._lock = RLock()
        self._open_line = False
        self._streamed: set[UUID] = set()
        self._shown: set[str] = set()

    def begin_turn(self) -> None:
        """Forget which results were shown: providers number their calls anew in each turn."""
        with self._lock:
            self._shown.clear()

    # langchain-core streams a model's answer where a handler has these two.
    def tap_output_iter(self, run_id: UUID, output: Iterator[Any]) -> Iterator[Any]:  # noqa: ARG002
        """Pass values on."""
        return output

    def tap_output_aiter(
        self,
        run_id: UUID,  # noqa: ARG002 - langchain-core's signature
        output: AsyncIterator[Any],
    ) -> AsyncIterator[Any]:
        """Pass values on."""
        return output

    def on_llm_new_token(
        self,
        token: Any,
        *,
        chunk: Any = None,
        run_id: UUID,
        **_: Any,
    ) -> None:
        """A piece of an answer came."""
        message = getattr(chunk, "message", None)
        text = message.text if isinstance(message, BaseMessage) else token
        if isinstance(text, str) and text:
            self._streamed.add(run_id)
            self._write(str(text))

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: Any) -> None:
        """An answer is complete; what was not streamed is shown now."""
        message = getattr(response.generations[0][0], "message", None)
        if run_id not in self._streamed and isinstance(message, BaseMessage):
            self._write(message.text)
        self._streamed.discard(run_id)
        self.end_line()

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:  # noqa: ARG002
        """An answer broke off."""
        self._streamed.discard(run_id)
        self.end_line()

    def on_tool_start(
        self,
        serialized: Mapping[str, Any] | None,
        input_str: str,
        *,
        inputs: Mapping[str, Any] | None = None,
        **named: Any,
    ) -> None:
        """A tool begins to run."""
        name = named.get("name") or (serialized or {}).get("name") or "tool"
        given = input_str if inputs is None else _arguments(inputs)
        self.note(f"[{name}({given})]")

    def on_tool_end(self, output: Any, **_: Any) -> None:
        """A tool has answered."""
        if isinstance(output, ToolMessage):
            self.result(output)

    def result(self, message: ToolMessage) -> None:
        """Show the result of a call, once."""
        with self._lock:
            if message.tool_call_id in self._shown:
                return
            self._shown.add(message.tool_call_id)
        sign = "failed:" if message.status == "error" else "->"
        self.note(f"[{message.name} {sign} {short(message.text)}]")

    def note(self, text: str) -> None:
        """Show one line that is no part of an answer."""
        self._line(text, dim=True)

    def error(self, text: str) -> None:
        """Show one line about something that went wrong."""
        self._line(f"error: {text}", fg=typer.colors.RED)

    def end_line(self) -> None:
        """Begin a new line, unless the last one is complete."""
        with self._lock:
            if self._open_line:
                typer.echo()
                self._open_line = False

    def _write(self, text: str) -> None:
        if text := visible(text):
            with self._lock:
                typer.echo(text, nl=False)
                self._open_line = not text.endswith("\n")

    def _line(self, text: str, **style: Any) -> None:
        with self._lock:
            self.end_line()
            typer.secho(printable(text), err=True, **style)


def visible(text: str) -> str:
    """The text without anything that a terminal would follow instead of showing it."""
    return "".join(_shown_as(letter) for letter in text)


def short(value: object) -> str:
    """A value as one line of at most 200 characters."""
    text = printable(value if isinstance(value, str) else _as_json(value))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _shown_as(letter: str) -> str:
    if letter in "\n\t" or letter in _JOINERS or letter.isprintable():
        return letter
    if letter == "\r":
        return ""
    if unicodedata.category(letter) == "Zs":
        return " "
    return "\N{REPLACEMENT CHARACTER}"


def _arguments(values: Mapping[str, Any]) -> str:
    return short(", ".join(f"{name}={_as_json(value)}" for name, value in values.items()))


def _as_json(value: object) -> str:
    try:
        return json.dumps(cast("Any", value), ensure_ascii=False, default=repr)
    except ValueError:  # refers to itself
        return repr(value)
