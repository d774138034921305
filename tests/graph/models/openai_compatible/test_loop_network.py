"""Connections of the event loop, against a peer in the same loop."""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpcore
import pytest
import trustme

from interlock.graph.models.openai_compatible.loop_network import LoopNetwork, LoopTransport

Peer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
MANY = 2**21


@asynccontextmanager
async def connected(
    peer: Peer, tls: ssl.SSLContext | None = None
) -> AsyncGenerator[httpcore.AsyncNetworkStream, None]:
    """A connection to a peer, which is closed at the end."""
    over = asyncio.Event()

    async def served(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await peer(reader, writer)
            await over.wait()
        finally:
            writer.transport.abort()

    server = await asyncio.start_server(served, "127.0.0.1", 0, ssl=tls)
    stream = await LoopNetwork().connect_tcp("127.0.0.1", server.sockets[0].getsockname()[1])
    try:
        yield stream
    finally:
        over.set()
        await stream.aclose()
        server.close()


async def quiet(_reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    """Say nothing."""


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while block := await reader.read(100):
        writer.write(block)


async def flood(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"x" * MANY)


def test_httpx_opens_its_connections_here() -> None:
    transport: Any = LoopTransport(trust_env=False)
    # The guard for two private names.
    assert isinstance(transport._pool._network_backend, LoopNetwork)  # noqa: SLF001


async def test_a_read_gives_what_came_up_to_its_limit() -> None:
    async with connected(echo) as stream:
        await stream.write(b"hello")
        assert await stream.read(3, 5) == b"hel"
        assert await stream.read(9, 5) == b"lo"


async def test_head_and_body_leave_together() -> None:
    first: asyncio.Queue[bytes] = asyncio.Queue()

    async def note(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await first.put(await reader.read(1000))
        writer.write(b"ok")

    async with connected(note) as stream:
        await stream.write(b"head ")
        await stream.write(b"body")
        assert await stream.read(9, 5) == b"ok"
    assert await first.get() == b"head body"


async def test_each_read_has_its_own_time_limit() -> None:
    async with connected(echo) as stream:
        with pytest.raises(httpcore.ReadTimeout):
            await stream.read(9, 0.01)
        await stream.write(b"a")
        assert await stream.read(9, 30) == b"a"
        with pytest.raises(httpcore.ReadTimeout):  # although the alarm was set for later
            await stream.read(9, 0.01)


async def test_a_later_read_gets_its_whole_time() -> None:
    async def late(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"a")
        await asyncio.sleep(0.04)
        writer.write(b"b")

    async with connected(late) as stream:
        assert await stream.read(9, 0.02) == b"a"
        assert await stream.read(9, 5) == b"b"  # the alarm of the first read rings in between


async def test_a_peer_that_floods_is_slowed_down_and_loses_nothing() -> None:
    async with connected(flood) as stream:
        size = len(await stream.read(1, 5))
        for _ in range(100):
            await asyncio.sleep(0)
        connection: Any = stream
        held = len(connection._unread)  # noqa: SLF001
        while size < MANY:
            size += len(await stream.read(2**16, 5))
    assert held < MANY / 2
    assert size == MANY


async def test_a_stream_that_is_always_ahead_lets_others_have_their_turn() -> None:
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    async with connected(flood) as stream:
        await stream.read(1, 5)
        other = asyncio.create_task(count())
        for _ in range(20):
            await stream.read(1, 5)
        other.cancel()
    assert turns >= 19


async def test_a_peer_that_reads_nothing_ends_a_write_in_time() -> None:
    async with connected(quiet) as stream:
        with pytest.raises(httpcore.WriteTimeout):
            await stream.write(b"x" * 20 * MANY, 0.01)


async def test_what_a_peer_said_before_it_left_is_read() -> None:
    async def leave(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"bye")
        writer.close()

    async with connected(leave) as stream:
        assert await stream.read(2, 5) == b"by"
        assert await stream.read(9, 5) == b"e"
        assert await stream.read(9, 5) == b""
        assert stream.get_extra_info("is_readable")
        with pytest.raises(httpcore.WriteError):
            await stream.write(b"x")


async def test_a_reset_connection_is_a_read_error() -> None:
    async def reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        no_farewell = struct.pack("ii", 1, 0)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, no_farewell)
        writer.transport.abort()

    async with connected(reset) as stream:
        await stream.write(b"xx")
        with pytest.raises(httpcore.ReadError):
            await stream.read(9, 5)


async def test_closing_does_not_wait_for_unsent_bytes() -> None:
    ended = asyncio.Event()

    async def wait(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        try:
            await asyncio.sleep(0.02)
            await reader.read(MANY)
            await reader.read(-1)
        except ConnectionError:
            pass
        ended.set()

    async with connected(wait) as stream:
        with pytest.raises(httpcore.WriteTimeout):
            await stream.write(b"x" * 10 * MANY, 0.001)
        await stream.aclose()
        await asyncio.wait_for(ended.wait(), 5)


async def test_a_refused_connection_and_a_slow_one_are_told_apart() -> None:
    network = LoopNetwork()
    with pytest.raises(httpcore.ConnectError):
        await network.connect_tcp("127.0.0.1", 1)
    with pytest.raises(httpcore.ConnectTimeout):
        await network.connect_tcp("127.0.0.1", 1, timeout=0)


async def test_bytes_pass_through_tls() -> None:
    authority = trustme.CA()
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("localhost").configure_cert(server)
    client = ssl.create_default_context()
    authority.configure_trust(client)
    async with connected(echo, server) as stream:
        secure = await stream.start_tls(client, "localhost", 5)
        await secure.write(b"hello")
        assert await secure.read(9, 5) == b"hello"
        assert secure.get_extra_info("ssl_object").version().startswith("TLS")
        await secure.aclose()


async def test_a_peer_without_tls_is_a_connect_error() -> None:
    for peer, error in ((echo, httpcore.ConnectError), (quiet, httpcore.ConnectTimeout)):
        async with connected(peer) as stream:
            with pytest.raises(error):
                await stream.start_tls(ssl.create_default_context(), "localhost", 0.05)
