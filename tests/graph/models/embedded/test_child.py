"""The engine's process, with a stand-in for the package it loads."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from interlock.graph.models.embedded.worker import Worker, engine_command
from interlock.state.model_errors import ChatModelRequestError, ChatModelServerError

STAND_IN = """
import os
print("a banner")

class Needle:
    def __init__(self, tools, system, auto_date):
        if tools == "bad":
            raise RuntimeError("needle_init failed")
        self.told = [tools, system, auto_date]

    def reset(self):
        self.told = []

    def complete(self, text, max_new_tokens):
        os.write(1, b"noise\\n")
        if text == "fail":
            raise ValueError("no such thing")
        self.told.append(text)
        return {"told": list(self.told), "most": max_new_tokens}
"""

Start = Callable[..., Worker]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    package = tmp_path / "needle"
    package.mkdir()
    (package / "__init__.py").write_text(STAND_IN)
    return tmp_path


@pytest.fixture
def start(folder: Path) -> Iterator[Start]:
    started: list[Worker] = []

    def run(tools: str = "[]") -> Worker:
        started.append(
            Worker(engine_command(folder), {"tools": tools, "facts": "date: x"}, timeout_s=60)
        )
        return started[-1]

    yield run
    for worker in started:
        worker.close()


def test_texts_are_told_in_turn_after_a_reset(start: Start) -> None:
    worker = start()
    assert worker.tell(["a"], max_tokens=7) == {"told": ["a"], "most": 7}
    assert worker.tell(["a", "b"], max_tokens=7)["told"] == ["a", "b"]
    assert worker.tell(["c"], max_tokens=7)["told"] == ["c"]


def test_a_failure_of_the_engine_ends_the_request_only(start: Start) -> None:
    worker = start()
    with pytest.raises(ChatModelServerError, match="ValueError: no such thing"):
        worker.tell(["fail"], max_tokens=7)
    assert worker.tell(["a"], max_tokens=7)["told"] == ["a"]


def test_refused_tools_are_reported(start: Start) -> None:
    with pytest.raises(ChatModelRequestError, match="needle_init failed"):
        start("bad")


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interrupt_from_the_terminal_leaves_the_process_to_its_parent(start: Start) -> None:
    worker = start()
    os.kill(worker.pid, signal.SIGINT)
    assert worker.tell(["a"], max_tokens=7)["told"] == ["a"]


KILLED = """
import json, os, signal, subprocess, sys
child = subprocess.Popen(json.loads(sys.argv[1]), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdin.write(b'{"tools": "[]", "facts": ""}\\n')
child.stdin.flush()
child.stdout.readline()
print(child.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="waits by Linux's pidfd")
def test_the_process_ends_with_its_parent(folder: Path, ends: Callable[[int], bool]) -> None:
    parent = [sys.executable, "-I", "-c", KILLED, json.dumps(engine_command(folder))]
    done = subprocess.run(parent, stdout=subprocess.PIPE, timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL
    assert ends(int(done.stdout))


def test_a_package_that_is_gone_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ChatModelRequestError, match="no package 'needle'"):
        Worker(engine_command(tmp_path), {"tools": "[]", "facts": ""}, timeout_s=60)
