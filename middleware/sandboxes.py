"""Shells in a sandbox: a container, or the one that the Codex program brings."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

from ..state.errors import ConfigurationError
from ..state.guardrail_errors import ExecutionPolicyError
from ._execution import SHELL_TEMP_PREFIX, BaseExecutionPolicy, check_positive, launch_alone

_MOST_PROCESSES = 256


@dataclass
class CodexSandboxExecutionPolicy(BaseExecutionPolicy):
    """Runs the shell in the sandbox of the Codex command-line program."""

    binary: str = "codex"
    platform: Literal["auto", "macos", "linux"] = "auto"
    config_overrides: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Settings of the sandbox, given as ``-c key=value``."""

    def spawn(
        self, *, workspace: Path, env: Mapping[str, str], command: Sequence[str]
    ) -> subprocess.Popen[bytes]:
        """Start the sandbox with the shell in it."""
        return launch_alone(self._build_command(command), env=env, cwd=workspace)

    def _build_command(self, command: Sequence[str]) -> list[str]:
        settings = [
            part
            for key, value in sorted(self.config_overrides.items())
            for part in ("-c", f"{key}={self._format_override(value)}")
        ]
        start = [self._resolve_binary(), "sandbox", self._determine_platform()]
        return [*start, *settings, "--", *command]

    def _resolve_binary(self) -> str:
        return _resolve(self.binary)

    def _determine_platform(self) -> str:
        if self.platform != "auto":
            return self.platform
        if sys.platform.startswith("linux"):
            return "linux"
        if sys.platform == "darwin":
            return "macos"
        msg = f"Codex has no sandbox for {sys.platform!r}; use another policy."
        raise ExecutionPolicyError(msg)

    @staticmethod
    def _format_override(value: Any) -> str:
        try:
            return json.dumps(value)
        except TypeError:
            return str(value)


@dataclass
class DockerExecutionPolicy(BaseExecutionPolicy):
    """Runs the shell in a container of its own, without network by default.

    The container has no capabilities, cannot gain privileges, and may have at most 256 processes.
    """

    binary: str = "docker"
    image: str = "python:3.12-alpine3.19"
    remove_container_on_exit: bool = True
    network_enabled: bool = False
    extra_run_args: Sequence[str] | None = None
    """Further arguments of ``docker run``."""
    memory_bytes: int | None = None
    cpu_time_seconds: Any | None = None
    """Not to be had in a container; use ``cpus``."""
    cpus: str | None = None
    """Processors, such as ``1.5``."""
    max_processes: int = _MOST_PROCESSES
    read_only_rootfs: bool = False
    user: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive(memory_bytes=self.memory_bytes, max_processes=self.max_processes)
        if self.cpu_time_seconds is not None:
            msg = "Docker cannot limit cpu_time_seconds; give cpus instead."
            raise ExecutionPolicyError(msg)
        for name in ("cpus", "user"):
            value = getattr(self, name)
            if value is not None and not value.strip():
                msg = f"{name} must be a non-empty string when provided."
                raise ConfigurationError(msg)

    def spawn(
        self, *, workspace: Path, env: Mapping[str, str], command: Sequence[str]
    ) -> subprocess.Popen[bytes]:
        """Start a container with the shell in it."""
        # The program that talks to the daemon needs this machine's environment, the shell does not.
        return launch_alone(
            self._build_command(workspace, env, command), env=os.environ.copy(), cwd=workspace
        )

    def after_kill(self, process: subprocess.Popen[bytes]) -> None:
        """Kill the container, which outlives the program that started it."""
        arguments = [str(argument) for argument in cast("Sequence[Any]", process.args)]
        if "--name" in arguments:
            command = [self._resolve_binary(), "kill", arguments[arguments.index("--name") + 1]]
            subprocess.run(  # noqa: S603 - a list of arguments
                command, capture_output=True, timeout=self.termination_timeout, check=False
            )

    def _build_command(
        self, workspace: Path, env: Mapping[str, str], command: Sequence[str]
    ) -> list[str]:
        full = [self._resolve_binary(), "run", "-i"]
        full += ["--rm"] if self.remove_container_on_exit else []
        full += ["--name", f"{SHELL_TEMP_PREFIX}{uuid.uuid4().hex}"]
        full += ["--cap-drop", "ALL", "--security-opt", "no-new-privileges"]
        full += ["--pids-limit", str(self.max_processes)]
        full += [] if self.network_enabled else ["--network", "none"]
        full += ["--memory", str(self.memory_bytes)] if self.memory_bytes else []
        full += ["--cpus", self.cpus] if self.cpus else []
        full += ["--read-only"] if self.read_only_rootfs else []
        full += ["--user", self.user] if self.user else []
        if workspace.name.startswith(SHELL_TEMP_PREFIX):
            full += ["-w", "/"]
        else:
            full += ["-v", f"{workspace}:{workspace}", "-w", str(workspace)]
        for name, value in env.items():
            full += ["-e", f"{name}={value}"]
        return [*full, *(self.extra_run_args or ()), self.image, *command]

    def _resolve_binary(self) -> str:
        return _resolve(self.binary)


def _resolve(binary: str) -> str:
    path = shutil.which(binary)
    if path is None:
        msg = f"The program {binary!r} is not installed; install it, or use another policy."
        raise ExecutionPolicyError(msg)
    return path
