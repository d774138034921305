"""Certificates are checked before anything is sent."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import trustme

from interlock.state.model_errors import ChatModelCertificateError

Net = Any  # the loopback network of conftest.py
Ask = Callable[..., Any]


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    """An authority that nobody trusts by default."""
    return trustme.CA()


@pytest.fixture(scope="module")
def ca_file(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("tls") / "ca.pem"
    authority.cert_pem.write_to_path(path)
    return str(path)


def served(
    authority: trustme.CA, host: str = "127.0.0.1", until: datetime | None = None
) -> ssl.SSLContext:
    """The settings of a server with a certificate for a host."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert(host, not_after=until).configure_cert(context)
    return context


def test_an_authority_of_the_settings_is_trusted(
    net: Net, ask: Ask, gather: Ask, authority: trustme.CA, ca_file: str, key: str
) -> None:
    server = net.provider(
        net.whole(net.completion()), net.streamed({"content": "hi"}, "stop"), tls=served(authority)
    )
    model = net.client(server, ca_file=ca_file)

    assert ask(model).content == "hello"
    assert gather(model).content == "hi"
    assert server.seen[0].headers["authorization"] == f"Bearer {key}"


def test_connections_under_tls_are_kept(net: Net, authority: trustme.CA, ca_file: str) -> None:
    server = net.provider(net.streamed({"content": "hi"}, "stop"), tls=served(authority))
    model = net.client(server, ca_file=ca_file)

    async def twice() -> None:
        for _ in range(2):
            await model.ainvoke("hi", stream=True)

    asyncio.run(twice())
    for _ in range(2):
        _ = list(model.stream("hi"))

    assert server.connections == 2  # one of the loop, one of blocking calls


def test_an_unknown_authority_is_refused_once_and_nothing_is_sent(
    net: Net, ask: Ask, authority: trustme.CA
) -> None:
    server = net.provider(net.whole(net.completion()), tls=served(authority))
    with pytest.raises(ChatModelCertificateError, match=r"was refused.*issuer.*ca_file") as caught:
        ask(net.client(server, max_retries=2))

    assert not caught.value.is_retryable
    assert (server.connections, server.seen) == (1, [])


def test_a_certificate_for_another_host_is_refused(
    net: Net, gather: Ask, authority: trustme.CA, ca_file: str
) -> None:
    server = net.provider(net.streamed("stop"), tls=served(authority, "other.example"))
    with pytest.raises(ChatModelCertificateError, match=r"not valid for '127\.0\.0\.1'"):
        gather(net.client(server, ca_file=ca_file))

    assert server.seen == []


def test_an_expired_certificate_is_refused(
    net: Net, ask: Ask, authority: trustme.CA, ca_file: str
) -> None:
    yesterday = datetime.now(UTC) - timedelta(days=1)
    server = net.provider(net.whole({}), tls=served(authority, until=yesterday))
    with pytest.raises(ChatModelCertificateError, match="expired"):
        ask(net.client(server, ca_file=ca_file))


def test_the_environment_names_no_authority(
    net: Net, ask: Ask, authority: trustme.CA, ca_file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", ca_file)
    monkeypatch.setenv("SSL_CERT_DIR", str(Path(ca_file).parent))
    server = net.provider(net.whole(net.completion()), tls=served(authority))
    with pytest.raises(ChatModelCertificateError):
        ask(net.client(server))


async def test_a_cancelled_stream_under_tls_closes_its_connection(
    net: Net, authority: trustme.CA, ca_file: str
) -> None:
    held = net.streamed({"content": "a"}, done=False, end="hold")
    server = net.provider(held, tls=served(authority))
    pieces = net.client(server, ca_file=ca_file, timeout=60).astream("hi")
    await anext(pieces)
    waiting = asyncio.create_task(anext(pieces))
    await asyncio.to_thread(server.streaming.acquire)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting

    await asyncio.to_thread(server.waits_until_open, 0)
