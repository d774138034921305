from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from interlock.state import ToolExecutionError
from interlock.tools import http_fetch_tool

Serve = Callable[[Callable[[socket.socket, threading.Event], None]], int]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start a server on loopback that does one thing with each connection; gives its port."""
    ended = threading.Event()
    listening = socket.create_server(("127.0.0.1", 0))
    threads: list[threading.Thread] = []

    def start(answer: Callable[[socket.socket, threading.Event], None]) -> int:
        def talk(connection: socket.socket) -> None:
            with connection, suppress(OSError):
                connection.recv(10_000)
                answer(connection, ended)

        def accept() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listening.accept()
                    threads.append(threading.Thread(target=talk, args=(connection,)))
                    threads[-1].start()

        threads.append(threading.Thread(target=accept))
        threads[-1].start()
        return int(listening.getsockname()[1])

    yield start
    ended.set()
    with suppress(OSError):
        listening.shutdown(socket.SHUT_RDWR)
    listening.close()
    for thread in threads:
        thread.join()


async def fetch(mode: str, port: int, **options: Any) -> str:
    tool = http_fetch_tool(
        resolve=lambda _host, _port: ["127.0.0.1"], networks=["127.0.0.1/32"], ports=None, **options
    )
    url = {"url": f"http://site.example:{port}/"}
    return str(tool.invoke(url) if mode == "sync" else await tool.ainvoke(url))


@pytest.mark.parametrize("mode", ["sync", "async"])
@pytest.mark.parametrize(
    "begin",
    [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 302 Found\r\nLocation: /"],
    ids=["status", "headers", "body", "redirect"],
)
async def test_byte_now_and_then_does_not_extend_the_time(
    serve: Serve, mode: str, begin: bytes
) -> None:
    def drip(connection: socket.socket, ended: threading.Event) -> None:
        connection.sendall(begin)
        while not ended.wait(0.05):
            connection.sendall(b"X")

    began = time.monotonic()
    with pytest.raises(ToolExecutionError, match=r"took longer than 0\.5 s"):
        await fetch(mode, serve(drip), timeout_s=0.5)

    assert time.monotonic() - began < 20


@pytest.mark.parametrize("mode", ["sync", "async"])
async def test_redirects_share_the_time(serve: Serve, mode: str) -> None:
    def redirect(connection: socket.socket, ended: threading.Event) -> None:
        ended.wait(0.1)
        connection.sendall(b"HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n")

    with pytest.raises(ToolExecutionError, match=r"took longer than 0\.5 s"):
        await fetch(mode, serve(redirect), timeout_s=0.5, max_redirects=1_000)


@pytest.mark.parametrize("mode", ["sync", "async"])
@pytest.mark.parametrize(
    ("charset", "text"),
    [
        ("idna", "é"),
        ("undefined", "é"),
        ("punycode", "é"),
        ("unicode_escape", "é"),
        ("hex", "é"),
        ("rot13", "é"),
        ("latin-1", "Ã©"),
    ],
)
async def test_charset_that_is_none_is_read_as_utf_8(
    serve: Serve, mode: str, charset: str, text: str
) -> None:
    def answer(connection: socket.socket, _ended: threading.Event) -> None:
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset={charset}\r\n\r\n"
        connection.sendall(head.encode() + "é".encode())

    assert (await fetch(mode, serve(answer))).endswith(f"\n\n{text}")


async def test_charset_with_a_zero_byte_is_read_as_utf_8(serve: Serve) -> None:
    def answer(connection: socket.socket, _ended: threading.Event) -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset*=us-ascii''a%00b\r\n\r\n"
        connection.sendall(head + "é".encode())

    assert (await fetch("sync", serve(answer))).endswith("é")


async def test_long_page_in_a_slow_charset_is_read_at_once(serve: Serve) -> None:
    def answer(connection: socket.socket, _ended: threading.Event) -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=punycode\r\n\r\n"
        connection.sendall(head + b"a-" + b"b" * 500_000)

    began = time.process_time()
    await fetch("sync", serve(answer))

    assert time.process_time() - began < 20
