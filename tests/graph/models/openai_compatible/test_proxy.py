"""Requests go through the proxy of the settings, and through no other."""

from __future__ import annotations

import socket
import socketserver
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import trustme
from typing_extensions import override

from interlock.state.model_errors import ChatModelConnectionError

Net = Any  # the loopback network of conftest.py
Ask = Callable[..., Any]
VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")


class Proxy(socketserver.ThreadingTCPServer):
    """Connects clients to servers and keeps what it was asked before that."""

    daemon_threads = True
    allowed = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Tunnel)
        self.asked: list[bytes] = []
        self.address = f"127.0.0.1:{self.server_address[1]}"


class _Tunnel(socketserver.StreamRequestHandler):
    rbufsize = 0  # what follows the head belongs to the server

    @override
    def handle(self) -> None:
        assert isinstance(self.server, Proxy)
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.rfile.read(1)
        self.server.asked.append(head)
        if not self.server.allowed:
            self.wfile.write(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
            return
        host, _, port = head.split()[1].partition(b":")
        with socket.create_connection((host.decode(), int(port))) as onward:
            self.wfile.write(b"HTTP/1.1 200 Connected\r\n\r\n")
            back = threading.Thread(target=_pump, args=(onward, self.connection), daemon=True)
            back.start()
            _pump(self.connection, onward)
            back.join()


def _pump(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while block := source.recv(65536):
            target.sendall(block)
        target.shutdown(socket.SHUT_WR)


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    with Proxy() as server:
        threading.Thread(target=server.serve_forever, args=(0.002,), daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def secure(net: Net, authority: trustme.CA, tmp_path: Path) -> Callable[..., Any]:
    """Build a client of a provider behind TLS."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    server = net.provider(net.whole(net.completion()), tls=context)

    def client(**settings: Any) -> Any:
        return net.client(server, ca_file=str(tmp_path / "ca.pem"), **settings)

    return client


def test_proxies_of_the_environment_are_not_used(
    net: Net, ask: Ask, secure: Any, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in VARIABLES:
        monkeypatch.setenv(name, f"http://{proxy.address}")
    plain = net.client(net.provider(net.whole(net.completion())))

    assert [ask(plain).content, ask(secure()).content] == ["hello", "hello"]
    assert proxy.asked == []


def test_a_proxy_of_the_settings_is_used_whatever_the_environment_excepts(
    ask: Ask, secure: Any, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    model = secure(proxy=f"http://{proxy.address}")

    assert ask(model).content == "hello"
    assert proxy.asked[0].startswith(b"CONNECT 127.0.0.1:")


def test_a_proxy_gets_its_own_credentials_and_never_the_key(
    ask: Ask, secure: Any, proxy: Proxy, key: str
) -> None:
    ask(secure(proxy=f"http://user:pass@{proxy.address}"))

    assert b"proxy-authorization: basic dXNlcjpwYXNz".lower() in proxy.asked[0].lower()
    assert key.encode() not in proxy.asked[0]


def test_plain_requests_name_their_server_to_the_proxy(net: Net, ask: Ask) -> None:
    between = net.provider(net.whole(net.completion()))
    model = net.client(between).model_copy(
        update={
            "base_url": "http://model.invalid/v1",
            "proxy": between.url.removesuffix("/v1"),
        }
    )

    assert ask(model).content == "hello"
    assert between.seen[0].path == "http://model.invalid/v1/chat/completions"
    model.connections.close()


def test_the_way_to_a_proxy_trusts_the_authority_of_the_settings(
    net: Net, ask: Ask, authority: trustme.CA, tmp_path: Path
) -> None:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    between = net.provider(net.whole(net.completion()), tls=context)
    model = net.client(
        between, ca_file=str(tmp_path / "ca.pem"), proxy=between.url.removesuffix("/v1")
    ).model_copy(update={"base_url": "http://model.invalid/v1"})

    assert ask(model).content == "hello"
    model.connections.close()


def test_a_proxy_that_refuses_is_named_without_its_address(
    ask: Ask, secure: Any, proxy: Proxy
) -> None:
    proxy.allowed = False
    with pytest.raises(ChatModelConnectionError, match=r"proxy.*407.*proxy setting") as caught:
        ask(secure(proxy=f"http://user:pass@{proxy.address}"))

    assert "pass@" not in repr(caught.value)
