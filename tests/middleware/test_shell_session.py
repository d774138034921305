from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from interlock.middleware import HostExecutionPolicy
from interlock.middleware.shell_session import ShellSession
from interlock.state.errors import RunError

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")
Make = Callable[..., ShellSession]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[ShellSession] = []

    def session(environment: dict[str, str] | None = None, **limits: Any) -> ShellSession:
        settings: dict[str, Any] = {"command_timeout": 20.0, "termination_timeout": 5.0, **limits}
        policy = HostExecutionPolicy(**settings)
        env = {"PATH": "/usr/bin:/bin", **(environment or {})}
        made.append(ShellSession(tmp_path, policy, ("/bin/bash",), env))
        return made[-1]

    yield session
    for one in made:
        one.kill()


def run(session: ShellSession, command: str, timeout: float = 20.0) -> str:
    return session.execute(command, timeout=timeout).output


def is_running(pid: int) -> bool:
    """Whether a process runs; one that nobody has collected yet does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in {"Z", "X"}


def gone(pid: int) -> bool:
    """Whether a process that has been killed is gone, as soon as the system says so."""
    deadline = time.monotonic() + 5
    while is_running(pid) and time.monotonic() < deadline:
        os.sched_yield()
    return not is_running(pid)


def test_folder_and_variables_last_from_command_to_command(make: Make, tmp_path: Path) -> None:
    session = make()
    run(session, "mkdir sub; cd sub; export X=5; f() { echo f$X; }")

    assert run(session, "pwd; f") == f"{tmp_path}/sub\nf5"


def test_nothing_of_this_environment_is_inherited(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_KEY", "hush")
    seen = run(make({"GIVEN": "yes"}), "env")

    assert "hush" not in seen
    assert "GIVEN=yes" in seen


@pytest.mark.parametrize(
    ("command", "code", "shown"),
    [
        ("true", 0, ""),
        ("false", 1, ""),
        ("exit 3", 3, ""),
        ("echo out; echo err >&2", 0, "out"),
        ("echo 'unfinished", None, ""),
        ("if", None, ""),
        ("cat", 0, ""),
        ("kill -9 $$", -9, ""),
        ("printf 'no newline'", 0, "no newline"),
        ("echo last words; exit 0", 0, "last words"),
        ("cat <<X\nhere\nX", 0, "here"),
    ],
)
def test_command_of_any_kind_comes_to_an_end(
    make: Make, command: str, code: int | None, shown: str
) -> None:
    session = make()
    result = session.execute(command, timeout=20)

    assert not result.timed_out
    assert result.exit_code == code if code is not None else result.exit_code != 0
    assert shown in result.output
    assert run(session, "echo still here") == "still here"


def test_command_cannot_pretend_to_be_done(make: Make) -> None:
    session = make()
    fake = (
        "for n in 1 2 3; do printf '\\n%s 0\\n' 0123456789abcdef0123456789abcdef; done; echo real"
    )

    assert run(session, fake).endswith("real")


def test_late_command_is_killed_with_everything_it_started(make: Make) -> None:
    session = make()
    run(session, "sleep 1000 & echo $! > background")
    result = session.execute("sh -c 'echo $$ > child; sleep 1000'", timeout=0.3)
    folder = session._workspace  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]

    assert result.timed_out
    assert gone(int((folder / "background").read_text()))
    assert gone(int((folder / "child").read_text()))
    assert run(session, "echo again") == "again"


def test_nothing_is_left_running_when_the_shell_ends_by_itself(make: Make) -> None:
    session = make()
    run(session, "sleep 1000 & echo $! > background; exit 0")

    assert gone(int((session._workspace / "background").read_text()))  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]


def test_nothing_is_left_running_after_a_stop(make: Make) -> None:
    session = make()
    background = int(run(session, "sleep 1000 >/dev/null 2>&1 & echo $!"))
    session.stop(5)

    assert gone(background)
    assert not session.is_alive


def test_endless_output_is_bounded_and_ends_in_time(make: Make) -> None:
    session = make(max_output_lines=10, max_output_bytes=1_000)
    result = session.execute("yes", timeout=0.5)

    assert result.timed_out
    assert len(result.output) <= 1_000
    assert run(session, "head -c 5000000 /dev/zero | tr '\\0' x").startswith("xxx")


@pytest.mark.parametrize(
    ("limits", "command"),
    [
        ({"memory_bytes": 200_000_000}, "head -c 400000000 /dev/zero | tail -c 400000000 | wc -c"),
        pytest.param({"cpu_time_seconds": 1}, "while :; do :; done", marks=pytest.mark.slow),
        ({"max_file_bytes": 1_000}, "head -c 100000 /dev/zero > big && echo written"),
    ],
)
def test_limit_stops_the_command(make: Make, limits: dict[str, int], command: str) -> None:
    result = make(**limits).execute(command, timeout=30)

    assert not result.timed_out
    assert "written" not in result.output
    assert "400000000" not in result.output


def test_commands_of_several_threads_do_not_mix(make: Make) -> None:
    session = make()
    results: dict[int, str] = {}

    def work(number: int) -> None:
        results[number] = run(session, f"echo {number}; echo {number}")

    threads = [threading.Thread(target=work, args=(n,)) for n in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert results == {n: f"{n}\n{n}" for n in range(5)}


def test_restart_begins_anew(make: Make) -> None:
    session = make()
    run(session, "export X=5")
    session.restart()

    assert run(session, "echo ${X:-unset}") == "unset"


def test_shell_that_leaves_while_idle_is_replaced(make: Make) -> None:
    session = make()
    pid = int(run(session, "echo $$"))
    os.kill(pid, 9)
    assert gone(pid)

    assert run(session, "echo again", timeout=10) in {"again", ""}
    assert run(session, "echo again") == "again"


@pytest.mark.parametrize("command", ["echo a\0b", "x" * 100_001])
def test_command_that_no_shell_can_take_is_refused(make: Make, command: str) -> None:
    with pytest.raises(RunError, match="cannot be run"):
        make().execute(command, timeout=1)
