"""A shell that lives through several commands and never outlives its owner."""

from __future__ import annotations

import logging
import os
import secrets
import shlex
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from ..state.errors import RunError
from ._execution import BaseExecutionPolicy
from .shell_output import ShellOutput, Source

LOGGER = logging.getLogger(__name__)

_LONGEST_COMMAND = 100_000


@dataclass
class CommandResult:
    """What became of a command."""

    output: str
    exit_code: int | None
    """None if the shell could not say it."""
    timed_out: bool = False
    truncated_by_lines: bool = False
    truncated_by_bytes: bool = False
    total_lines: int = 0
    total_bytes: int = 0


class ShellSession:
    """One shell process and what it has started.

    Args:
        workspace: The folder the shell starts in.
        policy: How it is started and kept in bounds.
        command: Program and arguments of the shell.
        environment: All of its environment.
    """

    def __init__(
        self,
        workspace: Path,
        policy: BaseExecutionPolicy,
        command: Sequence[str],
        environment: Mapping[str, str],
    ) -> None:
        self._workspace = workspace
        self._policy = policy
        self._command = tuple(command)
        self._environment = dict(environment)
        self._process: subprocess.Popen[bytes] | None = None
        self._output: ShellOutput | None = None
        self._ended = threading.Event()
        self._one_at_a_time = threading.RLock()

    @property
    def is_alive(self) -> bool:
        """Whether there is a shell to give commands to."""
        return self._process is not None and not self._ended.is_set()

    def start(self) -> None:
        """Start the shell, if none is there."""
        with self._one_at_a_time:
            if self.is_alive:
                return
            # One that has ended by itself is still to be collected, with what it left behind.
            self.kill()
            if not self._workspace.is_dir():
                self._workspace.mkdir(0o700, parents=True)
            process = self._policy.spawn(
                workspace=self._workspace, env=self._environment, command=self._command
            )
            self._process, self._ended = process, threading.Event()
            for source in ("out", "err"):
                threading.Thread(target=self._pump, args=(process, source), daemon=True).start()
            threading.Thread(target=self._watch, args=(process, self._ended), daemon=True).start()

    def execute(self, command: str, *, timeout: float) -> CommandResult:
        """Run a command and wait for it, ``timeout`` seconds at most.

        A command that takes longer is killed with everything it started, and the shell with it;
        the next command gets a new shell. Commands of several threads run one after the other.

        Raises:
            RunError: The command cannot be given to a shell, or the shell does not start.
        """
        if "\0" in command or len(command) > _LONGEST_COMMAND:
            msg = f"A command of {len(command)} characters cannot be run; the most are 100,000, none of them NUL."
            raise RunError(msg)
        with self._one_at_a_time:
            self.start()
            mark = secrets.token_hex(16)
            policy = self._policy
            output = ShellOutput(mark.encode(), policy.max_output_lines, policy.max_output_bytes)
            self._output = output
            try:
                self._write(_framed(command, mark))
                if self._ended.is_set():
                    self._close(output)
                in_time = output.wait(timeout)
            except BaseException:
                self.kill()
                raise
            if not in_time:
                self.kill()
            return self._result(output, timed_out=not in_time)

    def restart(self) -> None:
        """End the shell and start another one."""
        with self._one_at_a_time:
            self.stop(self._policy.termination_timeout)
            self.start()

    def stop(self, timeout: float) -> None:
        """End the shell: by asking, and after ``timeout`` seconds by force; nothing is left running."""
        if self._process is None:
            return
        with suppress(OSError, RunError, ValueError):
            self._write("exit\n")
        self._ended.wait(timeout)
        self.kill()

    def kill(self) -> None:
        """End the shell and everything in its process group now."""
        process = self._process
        if process is None:
            return
        self._kill_process()
        with suppress(OSError, subprocess.SubprocessError):
            self._policy.after_kill(process)
        with suppress(subprocess.TimeoutExpired):
            process.wait(self._policy.termination_timeout)
        self._process = None
        self._ended.set()
        if process.stdin is not None:
            with suppress(OSError):
                process.stdin.close()

    def _kill_process(self) -> None:
        """Kill the group of the shell, or the shell alone where it has no group of its own."""
        process = self._process
        if process is None:
            return
        if hasattr(os, "killpg"):
            try:
                group = os.getpgid(process.pid)
                if group != os.getpgrp():
                    os.killpg(group, signal.SIGKILL)
                    return
            except ProcessLookupError:
                return
            except OSError as error:
                LOGGER.warning("Cannot kill a group (%s); falling back to direct kill.", error)
        try:
            process.kill()
        except OSError as error:
            LOGGER.warning("The direct kill failed as well: %s.", error)

    def _write(self, text: str) -> None:
        process = self._process
        if process is None or process.stdin is None:
            msg = "The shell is not running; restart it."
            raise RunError(msg)
        try:
            process.stdin.write(text.encode("utf-8", "surrogateescape"))
            process.stdin.flush()
        except BrokenPipeError:
            # The shell has just ended; its output, if any, says why.
            self._ended.wait(self._policy.termination_timeout)

    def _result(self, output: ShellOutput, *, timed_out: bool) -> CommandResult:
        code = output.status
        if code is None and not timed_out:
            process = self._process
            self.kill()
            code = process.returncode if process is not None else None
        return CommandResult(
            output=output.text,
            exit_code=None if timed_out else code,
            timed_out=timed_out,
            truncated_by_lines=output.cut_lines,
            truncated_by_bytes=output.cut_bytes,
            total_lines=output.total_lines,
            total_bytes=output.total_bytes,
        )

    def _pump(self, process: subprocess.Popen[bytes], source: Source) -> None:
        """Hand on what a stream brings, until it ends; the stream is this thread's to close."""
        stream = cast("IO[bytes]", process.stdout if source == "out" else process.stderr)
        with stream:
            while True:
                try:
                    data = os.read(stream.fileno(), 65_536)
                except OSError:
                    data = b""
                output = self._output
                if self._process is process and output is not None:
                    output.feed(source, data)
                if not data:
                    return

    def _watch(self, process: subprocess.Popen[bytes], ended: threading.Event) -> None:
        """Tell when the shell ends; processes in the background may keep its streams open."""
        _wait_without_reaping(process)
        ended.set()
        output = self._output
        if output is not None:
            self._close(output)

    def _close(self, output: ShellOutput) -> None:
        """The shell has ended: take what is still on its way, and nothing after that."""
        if not output.wait(_LAST_WORDS_S):
            output.close()


_LAST_WORDS_S = 0.5
"""How long what a shell wrote last may be on its way after the shell has ended."""


def _framed(command: str, mark: str) -> str:
    """The command with marks behind its output; it reads nothing that is meant for the shell."""
    return (
        f"eval {shlex.quote(command)} </dev/null\n"
        f"printf '\\n%s %s\\n' {mark} \"$?\"\n"
        f"printf '\\n%s\\n' {mark} >&2\n"
    )


def _wait_without_reaping(process: subprocess.Popen[bytes]) -> None:
    """Wait for the end of a process whose number must stay its own: its group is still to be killed."""
    waitid: Any = getattr(os, "waitid", None)
    if waitid is None:  # pragma: no cover - Windows
        process.wait()
        return
    with suppress(ChildProcessError, OSError):
        waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
