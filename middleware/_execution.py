"""How a shell is started: what it gets to see, and what keeps it in bounds."""

from __future__ import annotations

import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..state.errors import ConfigurationError
from ..state.guardrail_errors import ExecutionPolicyError

resource: Any
try:
    import resource
except ImportError:  # pragma: no cover - Windows
    resource = None

_HAS_RESOURCE = resource is not None

SHELL_TEMP_PREFIX = "interlock-shell-"
"""Beginning of the names of workspaces that are made for one run."""


def _launch_subprocess(
    command: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path,
    preexec_fn: Callable[[], None] | None,
    start_new_session: bool,
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - a list of arguments that the developer chose
        list(command),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cwd,
        env=dict(env),
        bufsize=0,
        close_fds=True,
        preexec_fn=preexec_fn,  # noqa: PLW1509 - only where limits cannot be set from outside
        start_new_session=start_new_session,
    )


def launch_alone(
    command: Sequence[str], *, env: Mapping[str, str], cwd: Path
) -> subprocess.Popen[bytes]:
    """Start a program in a process group of its own, with pipes to talk through."""
    return _launch_subprocess(command, env=env, cwd=cwd, preexec_fn=None, start_new_session=True)


@dataclass
class BaseExecutionPolicy(ABC):
    """Limits of a shell and the way to start it. Times are in seconds."""

    command_timeout: float = 30.0
    """Longest command; what it started is then killed."""
    startup_timeout: float = 30.0
    """Longest startup command."""
    termination_timeout: float = 10.0
    """How long a shell may take to end by itself."""
    max_output_lines: int = 100
    """Lines of one command's output that are kept."""
    max_output_bytes: int | None = 1_048_576
    """Bytes of one command's output that are kept."""

    def __post_init__(self) -> None:
        for name in ("command_timeout", "startup_timeout", "termination_timeout"):
            if getattr(self, name) <= 0:
                msg = f"{name} must be positive, not {getattr(self, name)!r}."
                raise ConfigurationError(msg)
        if self.max_output_lines <= 0:
            msg = f"max_output_lines must be positive, not {self.max_output_lines!r}."
            raise ConfigurationError(msg)
        check_positive(max_output_bytes=self.max_output_bytes)

    @abstractmethod
    def spawn(
        self, *, workspace: Path, env: Mapping[str, str], command: Sequence[str]
    ) -> subprocess.Popen[bytes]:
        """Start the shell.

        Args:
            workspace: The folder it starts in.
            env: All of its environment.
            command: Program and arguments.
        """

    def after_kill(self, process: subprocess.Popen[bytes]) -> None:  # noqa: B027 - most have nothing
        """End what killing the process does not end."""


@dataclass
class HostExecutionPolicy(BaseExecutionPolicy):
    """Runs the shell as a process of this machine, with this process's rights.

    Nothing keeps it from files and network that this user can reach: for commands of a model that
    reads hostile text, use a container. Limits hold for each process of the shell by itself.
    """

    cpu_time_seconds: int | None = None
    """Processor time of a process."""
    memory_bytes: int | None = None
    """Address space of a process."""
    max_processes: int | None = None
    """Processes of this user, all of them counted, not only the shell's."""
    max_file_bytes: int | None = None
    """Largest file that a process may write."""
    create_process_group: bool = True
    """Give the shell a process group of its own, so that all it started can be killed."""

    def __post_init__(self) -> None:
        super().__post_init__()
        limits = {
            "cpu_time_seconds": self.cpu_time_seconds,
            "memory_bytes": self.memory_bytes,
            "max_processes": self.max_processes,
            "max_file_bytes": self.max_file_bytes,
        }
        check_positive(**limits)
        if any(limit is not None for limit in limits.values()) and not _HAS_RESOURCE:
            msg = "This platform has no resource limits; leave them out, or use a container."
            raise ExecutionPolicyError(msg)

    def spawn(
        self, *, workspace: Path, env: Mapping[str, str], command: Sequence[str]
    ) -> subprocess.Popen[bytes]:
        """Start the shell and set its limits before it is given a command."""
        limits = self._limits()
        from_outside = sys.platform.startswith("linux") and hasattr(resource, "prlimit")
        process = _launch_subprocess(
            list(command),
            env=env,
            cwd=workspace,
            preexec_fn=None if from_outside or not limits else lambda: _limit_self(limits),
            start_new_session=self.create_process_group,
        )
        if from_outside:
            for kind, value in limits:
                resource.prlimit(process.pid, kind, (value, value))
        return process

    def _limits(self) -> list[tuple[int, int]]:
        wanted = [
            (("RLIMIT_CPU",), self.cpu_time_seconds),
            (("RLIMIT_AS", "RLIMIT_DATA"), self.memory_bytes),
            (("RLIMIT_NPROC",), self.max_processes),
            (("RLIMIT_FSIZE",), self.max_file_bytes),
        ]
        limits: list[tuple[int, int]] = []
        for names, value in wanted:
            if value is None:
                continue
            kind = next((k for n in names if (k := getattr(resource, n, None)) is not None), None)
            if kind is None:
                msg = f"This platform has no {names[0]}; leave the limit out, or use a container."
                raise ExecutionPolicyError(msg)
            limits.append((kind, value))
        return limits


def _limit_self(limits: Sequence[tuple[int, int]]) -> None:
    for kind, value in limits:
        resource.setrlimit(kind, (value, value))


def check_positive(**limits: int | None) -> None:
    """Refuse limits that are given and not positive.

    Raises:
        ConfigurationError: With the name of the limit.
    """
    for name, value in limits.items():
        if value is not None and value <= 0:
            msg = f"{name} must be positive if provided, not {value!r}."
            raise ConfigurationError(msg)
