"""A provider on loopback, and one way to ask a model whatever the calling style."""

from __future__ import annotations

import asyncio
import json
import socket
import socketserver
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.runnables import Runnable
from typing_extensions import override

from interlock.graph.models import EmbeddedChatModel, OpenAICompatibleChatModel
from interlock.state.errors import MissingExtraError

KEY = "sk-live-0123456789-do-not-show"


@dataclass
class Answer:
    """One HTTP answer, written piece by piece."""

    pieces: Sequence[bytes]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    end: Literal["close", "cut", "hold", "reset"] = "close"
    """How the body ends: properly, without its end mark, not at all, or before it began."""


@dataclass
class Seen:
    """A request as the provider got it."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    at: float


class Provider(socketserver.ThreadingTCPServer):
    """Gives the scripted answers in order and repeats the last one."""

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 512

    def __init__(self, answers: Sequence[Answer], tls: ssl.SSLContext | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.tls = tls
        self.answers = list(answers)
        self.seen: list[Seen] = []
        self.open = 0
        self.connections = 0
        self.lock = threading.Lock()
        self.released = threading.Event()
        self.streaming = threading.Semaphore(0)

    @property
    def url(self) -> str:
        return f"http{'s' if self.tls else ''}://127.0.0.1:{self.server_address[1]}/v1"

    @override
    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        if self.tls is None:
            return connection, address
        # The handshake comes with the first read, in the connection's own thread.
        secure = self.tls.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        return secure, address

    def waits_until_open(self, count: int) -> None:
        """Return once exactly so many connections are open; fail after ten seconds."""
        end = time.monotonic() + 10
        while time.monotonic() < end:
            with self.lock:
                if self.open == count:
                    return
            self.released.wait(0.01)
        pytest.fail(f"{self.open} connections are open, {count} expected")


class _Handler(socketserver.StreamRequestHandler):
    @property
    def provider(self) -> Provider:
        assert isinstance(self.server, Provider)
        return self.server

    def handle(self) -> None:
        with self.provider.lock:
            self.provider.open += 1
            self.provider.connections += 1
        try:
            while self._answer():
                pass
        except OSError:
            pass
        finally:
            with self.provider.lock:
                self.provider.open -= 1

    def _answer(self) -> bool:
        start = self.rfile.readline()
        if not start.strip():
            return False
        headers: dict[str, str] = {}
        while (line := self.rfile.readline().strip()) != b"":
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        body = json.loads(self.rfile.read(int(headers.get("content-length", 0))))
        with self.provider.lock:
            path = start.split()[1].decode()
            self.provider.seen.append(Seen(path, headers, body, time.monotonic()))
            answers = self.provider.answers
            answer = answers.pop(0) if len(answers) > 1 else answers[0]
        return self._write(answer)

    def _write(self, answer: Answer) -> bool:
        if answer.end == "reset":
            return False
        head = [f"HTTP/1.1 {answer.status} Answer", "transfer-encoding: chunked"]
        head += [f"{name}: {value}" for name, value in answer.headers.items()]
        self.wfile.write("\r\n".join(head).encode() + b"\r\n\r\n")
        for piece in answer.pieces:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        if answer.end == "hold":
            self.provider.streaming.release()
            # Until the client hangs up or the test is over.
            self.connection.settimeout(0.05)
            while not self.provider.released.is_set():
                try:
                    if not self.connection.recv(1):
                        return False
                except TimeoutError:
                    continue
            return False
        if answer.end == "close":
            self.wfile.write(b"0\r\n\r\n")
        return answer.end == "close"


class Loopback:
    """Providers that answer by script, and clients that talk to them."""

    def __init__(self) -> None:
        self._running: list[Provider] = []
        self._clients: list[OpenAICompatibleChatModel] = []

    def provider(self, *answers: Answer, tls: ssl.SSLContext | None = None) -> Provider:
        """Start a provider with the given answers."""
        server = Provider(answers, tls)
        threading.Thread(target=server.serve_forever, args=(0.002,), daemon=True).start()
        self._running.append(server)
        return server

    def client(self, server: Provider, **settings: Any) -> OpenAICompatibleChatModel:
        """Build a chat model that talks to a provider."""
        given = {"model": "test-model", "api_key": KEY, "timeout": 5.0, "max_retries": 0}
        model = OpenAICompatibleChatModel(base_url=server.url, **{**given, **settings})
        self._clients.append(model)
        return model

    def stop(self) -> None:
        """Close everything."""
        for model in self._clients:
            model.connections.close()
        for server in self._running:
            server.released.set()
            server.shutdown()
            server.server_close()

    @staticmethod
    def whole(body: Any, status: int = 200, **headers: str) -> Answer:
        """Build an answer in one piece."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return Answer([raw], status, {"content-type": "application/json", **named})

    @staticmethod
    def completion(
        content: Any = "hello", finish: str | None = "stop", **message: Any
    ) -> dict[str, Any]:
        """Build the body of an answer."""
        said = {"role": "assistant", "content": content, **message}
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": "test-model",
            "choices": [{"index": 0, "message": said, "finish_reason": finish}],
            "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
        }

    @staticmethod
    def streamed(
        *events: dict[str, Any] | str | bytes,
        done: bool = True,
        end: Literal["close", "cut", "hold", "reset"] = "close",
    ) -> Answer:
        """Build a streamed answer from deltas; a string is a finish reason, bytes go out raw."""
        pieces = [*map(_event, events), *([b"data: [DONE]\n\n"] if done else [])]
        return Answer(pieces, 200, {"content-type": "text/event-stream"}, end)


def _event(event: dict[str, Any] | str | bytes) -> bytes:
    if isinstance(event, bytes):
        return event
    delta, finish = ({}, event) if isinstance(event, str) else (event, None)
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    payload = {"id": "chatcmpl-1", "model": "test-model", "choices": [choice]}
    return b"data: " + json.dumps(payload).encode() + b"\n\n"


@pytest.fixture
def net() -> Iterator[Loopback]:
    """A network of loopback providers for one test."""
    loopback = Loopback()
    yield loopback
    loopback.stop()


@pytest.fixture(params=["invoke", "ainvoke"])
def ask(request: pytest.FixtureRequest) -> Callable[..., AIMessage]:
    """Ask for a whole answer, in both calling styles."""

    def run(model: Runnable[Any, Any], prompt: Any = "hi", **settings: Any) -> Any:
        if request.param == "invoke":
            return model.invoke(prompt, **settings)
        return asyncio.run(_awaited(model, prompt, settings))

    return run


async def _awaited(model: Runnable[Any, Any], prompt: Any, settings: dict[str, Any]) -> Any:
    return await model.ainvoke(prompt, **settings)


@pytest.fixture(params=["stream", "astream"])
def gather(request: pytest.FixtureRequest) -> Callable[..., AIMessageChunk]:
    """Stream an answer and add its pieces up, in both calling styles."""

    def run(model: Runnable[Any, Any], prompt: Any = "hi", **settings: Any) -> AIMessageChunk:
        if request.param == "stream":
            pieces = list(model.stream(prompt, **settings))
        else:
            pieces = asyncio.run(_listed(model, prompt, settings))
        whole, *rest = pieces
        for piece in rest:
            whole = whole + piece
        assert isinstance(whole, AIMessageChunk)
        return whole

    return run


async def _listed(model: Runnable[Any, Any], prompt: Any, settings: dict[str, Any]) -> list[Any]:
    return [piece async for piece in model.astream(prompt, **settings)]


@pytest.fixture(scope="session")
def embedded_model() -> Iterator[EmbeddedChatModel]:
    """The embedded model, or a skipped test where there is no engine for this platform.

    One for all tests: starting its engine takes most of a second, and reading tools more.
    """
    try:
        model = EmbeddedChatModel()
    except MissingExtraError as exc:
        pytest.skip(str(exc))
    yield model
    model.close()


@pytest.fixture
def key() -> str:
    """The key every client of these tests uses."""
    return KEY
