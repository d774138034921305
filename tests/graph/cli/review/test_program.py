"""`interlock approvals`, from its arguments to its exit code."""

from __future__ import annotations

import importlib
import json
import os
import pty
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner, Result

from interlock.graph.cli.app import build_app
from interlock.state import ConfigurationError, MissingExtraError, StorageError

Office = Any
Command = Callable[..., Result]

PROGRAM = '''
from interlock.graph import create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import HumanInTheLoopMiddleware
from interlock.tools import tool

@tool
def send(to: str) -> str:
    """Send a letter."""
    with open("sent", "a") as out:
        out.write(to)
    return "sent"

def build():
    review = HumanInTheLoopMiddleware({"send": True})
    return create_agent(ScriptedChatModel(["done"]), [send], middleware=[review])

class Blueprint:
    def compile(self):
        return build()

agent = build()
blueprint = Blueprint()
broken = lambda: 1 / 0
number = 5
'''

COMMAND: list[Any] = [
    Path(sys.executable).with_name("interlock"),
    *("approvals", "--db", "threads.sqlite"),
]


@pytest.fixture
def command(office: Office, monkeypatch: pytest.MonkeyPatch) -> Command:
    """``command(*arguments)``: its result, in a folder with a program and threads."""
    folder = office.path.parent
    (folder / "post_office.py").write_text(PROGRAM)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [*sys.path])
    sys.modules.pop("post_office", None)
    importlib.invalidate_caches()

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(build_app(), ["approvals", *arguments])

    return run


def test_piped_list_has_a_line_for_each_thing_that_waits(office: Office, command: Command) -> None:
    office.begin("a\tb\n", ("send", {"to": "Ann\n"}), ("send", {"to": "Bob"}))
    office.begin("u", ("ask", {"question": "?"}))
    result = command("--db", "threads.sqlite")
    assert result.exit_code == 0
    rows = [line.split("\t") for line in result.stdout.splitlines()]
    assert [(row[0], row[3]) for row in rows] == [
        ("a\\tb\\n", "send"),
        ("a\\tb\\n", "send"),
        ("u", "question"),
    ]
    assert json.loads(rows[0][4]) == {"to": "Ann\n"}


@pytest.mark.parametrize(
    ("arguments", "error", "told"),
    [
        (["--db", "none.sqlite"], StorageError, "none.sqlite"),
        (["--db", "post_office.py"], StorageError, "cannot be read as a database of threads"),
        (["--agent", "post_office"], ConfigurationError, "package.module:agent"),
        (["--agent", "post_office:nobody"], ConfigurationError, "nobody"),
        (["--agent", "post_office:number"], ConfigurationError, "int, not an agent"),
        (["--agent", "post_office:broken"], ConfigurationError, "ZeroDivisionError"),
    ],
    ids=str,
)
def test_what_cannot_be_used_is_named(
    office: Office, command: Command, arguments: list[str], error: type[Exception], told: str
) -> None:
    office.begin("t", ("send", {"to": "Ann"}))
    result = command(*(["--db", "threads.sqlite"] if "--db" not in arguments else []), *arguments)
    assert isinstance(result.exception, error)
    assert told in str(result.exception)


def test_database_may_be_named_in_the_env_file(
    office: Office, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INTERLOCK_DB", "")  # so that it is what it was afterwards
    monkeypatch.delenv("INTERLOCK_DB")
    office.begin("t", ("send", {"to": "Ann"}))
    (office.path.parent / ".env").write_text("INTERLOCK_DB=threads.sqlite\n")
    assert command().stdout.startswith("t\t")


@pytest.mark.parametrize("name", ["agent", "build", "blueprint", "Blueprint"])
def test_agent_may_be_named_in_each_form(office: Office, command: Command, name: str) -> None:
    office.begin("t", ("send", {"to": "Ann"}))
    result = command("--db", "threads.sqlite", "--agent", f"post_office:{name}")
    assert result.exit_code == 0


def test_page_needs_its_extra(
    office: Office, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    office.begin("t", ("send", {"to": "Ann"}))
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    result = command("--db", "threads.sqlite", "--web")
    assert isinstance(result.exception, MissingExtraError)


def test_taken_port_is_told(office: Office, command: Command, serve: Any) -> None:
    office.begin("t", ("send", {"to": "Ann"}))
    page = serve(office.desk())
    result = command("--db", "threads.sqlite", "--web", "--port", str(page.port))
    assert isinstance(result.exception, ConfigurationError)
    assert str(page.port) in str(result.exception)


@pytest.mark.usefixtures("command")
def test_page_is_served_until_somebody_stops_it(office: Office) -> None:
    office.begin("t", ("send", {"to": "Ann"}))
    with subprocess.Popen(
        [*COMMAND, "--web", "--port", "0"],
        cwd=office.path.parent,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split()[-1]
        told = httpx.get(address, trust_env=False)
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
    assert (told.status_code, "Approvals" in told.text) == (200, True)


@pytest.mark.usefixtures("command")
def test_terminal_asks_and_the_run_goes_on(office: Office) -> None:
    office.begin("t", ("send", {"to": "Ann"}))
    screen, terminal = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, "--agent", "post_office:agent"],
        cwd=office.path.parent,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
    ) as process:
        os.write(screen, b"1\na\n")
        shown = b""
        while b"Nothing waits" not in shown:
            assert select.select([screen], [], [], 60)[0], shown
            shown += os.read(screen, 4096)
        assert process.wait(20) == 0
    os.close(screen)
    os.close(terminal)
    assert (office.path.parent / "sent").read_text() == "Ann"
