"""Connections of the running event loop, for httpcore.

httpcore 1.0.9 reaches asyncio through anyio, which opens and leaves a cancel scope and asks the
selector twice for every block of a stream: with many streams at once that is most of the work.
Here a block costs one callback and one future.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterable
from typing import Any, Final

import httpcore
import httpx
from typing_extensions import override

_UNREAD_BYTES: Final = 2**18
"""Bytes that may wait to be read before the peer is slowed down."""
_UNSENT_BYTES: Final = 2**16
"""Bytes that wait for the next read: head and body of a request leave together."""
_NEXT_ADDRESS_S: Final = 0.25
"""Seconds before another address of the host is tried beside the first. Source: RFC 8305."""


class LoopTransport(httpx.AsyncHTTPTransport):
    """httpx's transport on connections of the running event loop."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        # httpx 0.28 offers no setting for it; where the attribute is missing httpcore keeps its own.
        pool: Any = getattr(self, "_pool", None)
        if hasattr(pool, "_network_backend"):
            pool._network_backend = LoopNetwork()  # noqa: SLF001


class LoopNetwork(httpcore.AsyncNetworkBackend):
    """Opens connections."""

    @override
    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        loop = asyncio.get_running_loop()
        settings: dict[str, Any] = {}
        if local_address is not None:
            settings["local_addr"] = (local_address, 0)
        if isinstance(loop, asyncio.BaseEventLoop):  # uvloop tries one address after the other
            settings["happy_eyeballs_delay"] = _NEXT_ADDRESS_S
        try:
            async with asyncio.timeout(timeout):
                _, connection = await loop.create_connection(Connection, host, port, **settings)
        except TimeoutError as exc:
            raise httpcore.ConnectTimeout(str(exc)) from exc
        except OSError as exc:
            raise httpcore.ConnectError(str(exc)) from exc
        socket = connection.get_extra_info("socket")
        for option in socket_options or ():
            socket.setsockopt(*option)
        return connection

    @override
    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class Connection(asyncio.Protocol, httpcore.AsyncNetworkStream):
    """One connection, both as asyncio calls it and as httpcore does."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._unread = bytearray()
        self._unsent: list[bytes] = []
        self._ended = False
        self._error: Exception | None = None
        self._reader: asyncio.Future[None] | None = None
        self._read_until = 0.0
        self._alarm: asyncio.TimerHandle | None = None
        self._slowed = False
        self._may_write = asyncio.Event()
        self._may_write.set()
        self._lost = asyncio.Event()

    # --- called by asyncio -----------------------------------------------------------------

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # After start_tls a second time, with the transport inside.
        self._transport = transport  # type: ignore[assignment]  # pyright: ignore[reportAttributeAccessIssue]  # declared for all kinds of protocols

    @override
    def data_received(self, data: bytes) -> None:
        self._unread += data
        self._wake_reader()
        if len(self._unread) > _UNREAD_BYTES and not self._slowed and self._transport is not None:
            self._slowed = True
            self._transport.pause_reading()

    @override
    def eof_received(self) -> bool:
        self._ended = True
        self._wake_reader()
        return False

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._ended, self._error = True, exc
        self._wake_reader()
        self._may_write.set()
        self._lost.set()
        if self._alarm is not None:
            self._alarm.cancel()

    @override
    def pause_writing(self) -> None:
        self._may_write.clear()

    @override
    def resume_writing(self) -> None:
        self._may_write.set()

    # --- called by httpcore ----------------------------------------------------------------

    @override
    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if self._unsent and not self._ended:
            self._send()
        if not self._unread and not self._ended:
            reader = self._reader = self._loop.create_future()
            if timeout is not None:
                self._set_alarm(timeout)
            try:
                await reader
            finally:
                self._reader = None
        else:
            await asyncio.sleep(0)  # a stream that is always ahead lets the others have their turn
        if not self._unread:
            if self._error is not None:
                raise httpcore.ReadError(str(self._error)) from self._error
            return b""
        if len(self._unread) <= max_bytes:
            block = bytes(self._unread)
            self._unread.clear()
        else:
            block = bytes(self._unread[:max_bytes])
            del self._unread[:max_bytes]
        if self._slowed and len(self._unread) <= _UNREAD_BYTES:
            self._slowed = False
            self._open().resume_reading()
        return block

    @override
    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        if self._ended:
            msg = str(self._error or "the peer closed the connection")
            raise httpcore.WriteError(msg) from self._error
        self._unsent.append(buffer)
        if sum(map(len, self._unsent)) < _UNSENT_BYTES:
            return
        self._send()
        try:
            async with asyncio.timeout(timeout):
                await self._may_write.wait()
        except TimeoutError as exc:
            raise httpcore.WriteTimeout(str(exc)) from exc

    @override
    async def aclose(self) -> None:
        # Nothing may keep a cancelled call's connection open: no unsent bytes, no TLS farewell
        # that waits for the peer's.
        self._open().abort()
        await self._lost.wait()

    @override
    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.AsyncNetworkStream:
        inner = Connection()
        self._lost.set()  # from here on asyncio tells the inner one only
        try:
            async with asyncio.timeout(timeout):
                transport = await self._loop.start_tls(
                    self._open(), inner, ssl_context, server_hostname=server_hostname
                )
        except TimeoutError as exc:
            raise httpcore.ConnectTimeout(str(exc)) from exc
        except OSError as exc:
            raise httpcore.ConnectError(str(exc)) from exc
        if transport is None:
            msg = "the peer closed the connection"
            raise httpcore.ConnectError(msg)
        inner.connection_made(transport)
        return inner

    @override
    def get_extra_info(self, info: str) -> Any:
        if info == "is_readable":  # in an idle connection: it is of no use any more
            return bool(self._unread) or self._ended
        return self._open().get_extra_info({"client_addr": "sockname"}.get(info, info))

    # --- shared ----------------------------------------------------------------------------

    def _open(self) -> asyncio.Transport:
        if self._transport is None:  # pragma: no cover - asyncio hands out connected protocols
            raise AssertionError
        return self._transport

    def _send(self) -> None:
        block = b"".join(self._unsent)
        self._unsent.clear()
        self._open().write(block)

    def _wake_reader(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)

    def _set_alarm(self, timeout_s: float) -> None:
        """See that the read ends in time. One timer serves all reads that follow each other."""
        self._read_until = self._loop.time() + timeout_s
        if self._alarm is not None:
            if self._alarm.when() <= self._read_until:
                return
            self._alarm.cancel()
        self._alarm = self._loop.call_at(self._read_until, self._ring)

    def _ring(self) -> None:
        self._alarm = None
        if self._reader is None or self._reader.done():
            return
        if self._loop.time() < self._read_until:
            self._alarm = self._loop.call_at(self._read_until, self._ring)
        else:
            self._reader.set_exception(httpcore.ReadTimeout("no bytes came"))
