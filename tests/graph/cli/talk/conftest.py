"""A provider on loopback, and the command as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from interlock.graph import AgentGraph, create_agent
from interlock.graph.cli.talk import Dialogue, Screen, open_thread
from interlock.graph.models import ScriptedChatModel

Delta = dict[str, Any]
COMMAND = [sys.executable, "-c", "from interlock.graph.cli import main; main()"]


class Provider(ThreadingHTTPServer):
    """Streams scripted deltas, one list of them per request; a number is an error's status."""

    def __init__(self, *answers: list[Delta] | int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers = list(answers)
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str | None] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def asked(self, request: int) -> list[tuple[str, Any]]:
        """Who said what in the messages of a request."""
        return [(m["role"], m["content"]) for m in self.bodies[request]["messages"]]


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        provider = self.server
        assert isinstance(provider, Provider)
        provider.keys.append(self.headers.get("authorization"))
        provider.bodies.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        answer = provider.answers.pop(0)
        if isinstance(answer, int):
            body = json.dumps({"error": {"message": "out of order\nsince noon"}}).encode()
            self.send_response(answer)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        finish = "tool_calls" if any("tool_calls" in delta for delta in answer) else "stop"
        for delta in answer:
            self._event({"delta": delta, "finish_reason": None})
        self._event({"delta": {}, "finish_reason": finish})
        self.wfile.write(b"data: [DONE]\n\n")

    def _event(self, choice: dict[str, Any]) -> None:
        event = {"id": "c", "model": "m", "choices": [{"index": 0, **choice}]}
        self.wfile.write(b"data: " + json.dumps(event).encode() + b"\n\n")

    def log_message(self, format: str, *args: Any) -> None:
        """Stay quiet."""


@pytest.fixture
def provider() -> Iterator[Callable[..., Provider]]:
    """``provider(*answers)`` starts one."""
    running: list[Provider] = []

    def start(*answers: list[Delta] | int) -> Provider:
        server = Provider(*answers)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        running.append(server)
        return server

    yield start
    for server in running:
        server.shutdown()
        server.server_close()


@pytest.fixture
def environment() -> dict[str, str]:
    """The environment of a chat: no keys, nothing of the developer's."""
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    return {**kept, "PYTHONUTF8": "1"}


Chat = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def chat(tmp_path: Path, environment: Mapping[str, str]) -> Chat:
    """``chat(input, *arguments)`` pipes lines into ``interlock chat`` in an empty folder."""

    def run(lines: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*COMMAND, "chat", *arguments],
            input=lines,
            capture_output=True,
            text=True,
            encoding="utf-8",
            cwd=tmp_path,
            env=dict(environment),
            timeout=120,
            check=False,
        )

    return run


@pytest.fixture
def command() -> list[str]:
    """The command line without arguments."""
    return [*COMMAND, "chat"]


@pytest.fixture
def say(tmp_path: Path) -> Callable[..., Any]:
    """``await say(steps, *lines)``: a scripted model is asked each line; gives what ``ask`` gave."""

    async def talk(
        steps: list[Any], *lines: str, tools: Any = (), kept: bool = False
    ) -> list[bool]:
        async with open_thread(tmp_path / "t.sqlite" if kept else None) as saver:
            agent: AgentGraph = create_agent(
                ScriptedChatModel(steps), list(tools), checkpointer=saver
            )
            dialogue = Dialogue(agent, "t", Screen())
            await dialogue.begin()
            return [await dialogue.ask(line) for line in lines]

    return talk
