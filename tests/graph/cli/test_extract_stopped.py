"""`interlock extract` stopped by a person or killed, and gone on with."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from interlock.graph.cli.app import build_app

RECORDS, ANSWERED, AT_A_TIME = 12, 5, 2

# A shell that starts tests in the background has them ignore Ctrl-C, and what they start too.
PROGRAM = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from interlock.graph.cli.entry import main
main()
"""
SCHEMA = {
    "title": "Number",
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
}


class _Provider(BaseHTTPRequestHandler):
    """Answers so many requests, then lets the others wait until the server says so."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        server: Any = self.server
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        text = next(m["content"] for m in body["messages"] if m["role"] == "user")
        with server.lock:
            server.texts.append(text)
            waiting = len(server.texts) - server.answered
            if waiting == AT_A_TIME:
                server.full.set()
        if waiting > 0:
            server.released.wait(30)
            return
        call = {"name": "Number", "arguments": json.dumps({"n": int(text)})}
        calls = [{"id": "c", "type": "function", "function": call}]
        message = {"role": "assistant", "content": None, "tool_calls": calls}
        choices = [{"index": 0, "message": message, "finish_reason": "tool_calls"}]
        data = json.dumps({"id": "1", "model": "m", "choices": choices}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def provider() -> Iterator[Any]:
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), _Provider)
    server.daemon_threads = True
    server.texts, server.answered, server.lock = [], ANSWERED, threading.Lock()
    server.full, server.released = threading.Event(), threading.Event()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.released.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def arguments(provider: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Arguments of the command, in a folder of its own, with as many numbers as records."""
    monkeypatch.chdir(tmp_path)
    Path("schema.json").write_text(json.dumps(SCHEMA))
    Path("in.jsonl").write_text("".join(f'"{n}"\n' for n in range(RECORDS)))
    url = f"http://127.0.0.1:{provider.server_address[1]}/v1"
    options = ["--schema", "schema.json", "--model", "m", "--base-url", url]
    return ["extract", "in.jsonl", *options, "--concurrency", str(AT_A_TIME)]


@pytest.mark.parametrize(
    ("how", "output", "code", "files"),
    [
        (signal.SIGINT, "out.jsonl", 130, {"out.jsonl"}),
        (signal.SIGKILL, "out.csv", -9, {"out.csv.job", "out.csv.job-wal", "out.csv.part"}),
    ],
)
def test_stopped_job_goes_on(
    arguments: list[str],
    provider: Any,
    how: signal.Signals,
    output: str,
    code: int,
    files: set[str],
) -> None:
    command = [sys.executable, "-P", "-c", PROGRAM, *arguments, "-o", output]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as job:
        assert provider.full.wait(60)
        job.send_signal(how)
        _, said = job.communicate(timeout=60)
    left = {path.name for path in Path().iterdir()} - {"in.jsonl", "schema.json"}
    asked = list(provider.texts[:ANSWERED])
    provider.texts.clear()
    provider.answered = RECORDS
    resumed = CliRunner().invoke(build_app(), [*arguments, "-o", output, "--resume"])

    assert (job.returncode, resumed.exit_code) == (code, 0)
    assert said == ("Stopped. Go on with --resume.\n" if how == signal.SIGINT else "")
    assert left - {"out.rejects.jsonl"} == files
    assert f"{ANSWERED} of them before" in resumed.stderr
    assert numbers(Path(output)) == list(range(RECORDS))
    assert sorted(map(int, [*asked, *provider.texts])) == list(range(RECORDS)), "none asked twice"
    assert not Path("out.csv.part").exists()


def numbers(path: Path) -> list[int]:
    """Read the numbers of an output: a table is in order, lines are as they came."""
    if path.suffix == ".csv":
        with path.open(newline="") as file:
            return [int(row["n"]) for row in csv.DictReader(file)]
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return sorted(row["value"]["n"] for row in rows)
