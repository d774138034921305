from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from interlock.middleware import (
    CodexSandboxExecutionPolicy,
    DockerExecutionPolicy,
    HostExecutionPolicy,
)
from interlock.middleware import _execution as execution  # pyright: ignore[reportPrivateUsage]
from interlock.state import ConfigurationError
from interlock.state.guardrail_errors import ExecutionPolicyError


class Launch:
    """Stands for starting a process, and keeps how it was asked to."""

    pid = 1234

    def __call__(self, command: Any, **how: Any) -> Launch:
        self.command, self.how = list(command), how
        return self


@pytest.fixture
def launch(monkeypatch: pytest.MonkeyPatch) -> Launch:
    launch = Launch()
    monkeypatch.setattr(execution, "_launch_subprocess", launch)

    def which(name: str) -> str:
        return f"/opt/{name}"

    monkeypatch.setattr(shutil, "which", which)
    return launch


@pytest.mark.parametrize(
    "limit",
    [
        "max_output_lines",
        "command_timeout",
        "memory_bytes",
        "cpu_time_seconds",
        "max_processes",
        "max_file_bytes",
        "max_output_bytes",
    ],
)
def test_limit_that_is_not_positive_is_refused_by_name(limit: str) -> None:
    limits: dict[str, Any] = {limit: 0}
    with pytest.raises(ConfigurationError, match=limit):
        HostExecutionPolicy(**limits)


def test_limits_are_refused_where_they_cannot_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "_HAS_RESOURCE", False)

    HostExecutionPolicy()
    with pytest.raises(ExecutionPolicyError, match="no resource limits"):
        HostExecutionPolicy(memory_bytes=1_000)


def test_limits_are_set_inside_the_process_where_they_cannot_be_set_from_outside(
    launch: Launch, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Resource:
        RLIMIT_CPU, RLIMIT_AS = 0, 1

        def __init__(self) -> None:
            self.set: list[Any] = []

        def setrlimit(self, kind: int, value: Any) -> None:
            self.set.append((kind, value))

    resource = Resource()
    monkeypatch.setattr(execution, "resource", resource)
    monkeypatch.setattr(sys, "platform", "darwin")
    policy = HostExecutionPolicy(cpu_time_seconds=2, memory_bytes=4096)
    policy.spawn(workspace=tmp_path, env={}, command=["sh"])
    launch.how["preexec_fn"]()

    assert resource.set == [(0, (2, 2)), (1, (4096, 4096))]
    with pytest.raises(ExecutionPolicyError, match="RLIMIT_NPROC"):
        HostExecutionPolicy(max_processes=5).spawn(workspace=tmp_path, env={}, command=["sh"])


def test_container_is_closed_by_default(launch: Launch, tmp_path: Path) -> None:
    DockerExecutionPolicy(memory_bytes=4096, cpus="1.5", user="1000", read_only_rootfs=True).spawn(
        workspace=tmp_path, env={"A": "b"}, command=("sh", "-l")
    )
    line = " ".join(launch.command)

    assert launch.command[:4] == ["/opt/docker", "run", "-i", "--rm"]
    for part in (
        "--network none",
        "--cap-drop ALL",
        "--security-opt no-new-privileges",
        "--pids-limit 256",
        "--memory 4096",
        "--cpus 1.5",
        "--user 1000",
        "--read-only",
        f"-v {tmp_path}:{tmp_path} -w {tmp_path}",
        "-e A=b",
    ):
        assert part in line
    assert launch.command[-3:] == ["python:3.12-alpine3.19", "sh", "-l"]
    assert launch.how["start_new_session"]


def test_temporary_workspace_is_not_mounted(launch: Launch, tmp_path: Path) -> None:
    workspace = tmp_path / f"{execution.SHELL_TEMP_PREFIX}x"
    DockerExecutionPolicy(network_enabled=True, remove_container_on_exit=False).spawn(
        workspace=workspace, env={}, command=["sh"]
    )

    assert "-v" not in launch.command
    assert "--network" not in launch.command
    assert "--rm" not in launch.command


def test_container_is_killed_with_the_program_that_started_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "docker"
    program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\n')
    program.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    policy = DockerExecutionPolicy()
    process = policy.spawn(workspace=tmp_path, env={}, command=["sh"])
    process.wait(10)
    policy.after_kill(process)
    for stream in (process.stdin, process.stdout, process.stderr):
        assert stream is not None
        stream.close()
    started, killed = (tmp_path / "calls").read_text().splitlines()

    name = started.split("--name ")[1].split()[0]
    assert killed == f"kill {name}"


def test_codex_settings_come_in_order(launch: Launch, tmp_path: Path) -> None:
    policy = CodexSandboxExecutionPolicy(platform="linux", config_overrides={"b": [2], "a": 1})
    policy.spawn(workspace=tmp_path, env={}, command=["sh"])

    assert launch.command == [
        *("/opt/codex", "sandbox", "linux", "-c", "a=1", "-c", "b=[2]", "--", "sh")
    ]


@pytest.mark.parametrize(
    ("platform", "word"), [("linux", "linux"), ("darwin", "macos"), ("win32", None)]
)
def test_codex_knows_its_platforms(
    launch: Launch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, platform: str, word: str | None
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    policy = CodexSandboxExecutionPolicy()
    if word is None:
        with pytest.raises(ExecutionPolicyError, match="win32"):
            policy.spawn(workspace=tmp_path, env={}, command=["sh"])
        return
    policy.spawn(workspace=tmp_path, env={}, command=["sh"])
    assert launch.command[2] == word


@pytest.mark.parametrize("policy", [DockerExecutionPolicy, CodexSandboxExecutionPolicy])
def test_missing_program_is_named(
    policy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ExecutionPolicyError, match=r"docker|codex"):
        policy(**({"platform": "linux"} if policy is CodexSandboxExecutionPolicy else {})).spawn(
            workspace=tmp_path, env={}, command=["sh"]
        )


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"cpu_time_seconds": 1}, ExecutionPolicyError),
        ({"cpus": " "}, ConfigurationError),
        ({"user": " "}, ConfigurationError),
        ({"memory_bytes": 0}, ConfigurationError),
    ],
)
def test_wrong_setting_of_a_container_is_refused(settings: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=next(iter(settings))):
        DockerExecutionPolicy(**settings)
