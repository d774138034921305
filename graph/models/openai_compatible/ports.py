"""Where the client meets the network: the same four verbs, blocking or awaited.

Everything above is written once against ``Port``; asyncio and httpx transports are named only
here and in ``connections.py``. Requests go to the transport directly, not through
``httpx.Client``: no redirects, cookies, environment proxies or log lines, and less work.
"""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Final, Generic, TypeVar, cast

import httpx

from .lanes import Lane, Lanes

_DRAIN_S: Final = 0.1
_LANE: Final = "interlock.lane"


TransportT = TypeVar("TransportT", httpx.BaseTransport, httpx.AsyncBaseTransport)


class Port(ABC):
    """Sends requests, reads answers, waits."""

    @abstractmethod
    async def send(self, request: httpx.Request) -> httpx.Response:
        """Return the answer with its headers read and its body still to come."""

    @abstractmethod
    def blocks(self, response: httpx.Response) -> AsyncIterator[bytes]:
        """Iterate over the decoded body, block by block as it arrives."""

    @abstractmethod
    async def drain(self, response: httpx.Response, blocks: AsyncIterator[bytes]) -> None:
        """Read the end mark after the last event, shortly, so the connection can be reused."""

    @abstractmethod
    async def close(self, response: httpx.Response) -> None:
        """Give the connection back, or close it where the body was not read to its end."""

    @abstractmethod
    async def sleep(self, seconds: float) -> None:
        """Wait before the next attempt."""


class _LanedPort(Port, Generic[TransportT]):
    """A port that sends each request on a lane of its own.

    Args:
        lanes: Where requests go.
    """

    def __init__(self, lanes: Lanes[TransportT]) -> None:
        self._lanes: Lanes[TransportT] = lanes

    async def send(self, request: httpx.Request) -> httpx.Response:
        """See ``Port``."""
        lane = self._lanes.take()
        try:
            response = await self._sent(lane.transport, request)
        except BaseException:
            await self._give(lane)
            raise
        response.extensions[_LANE] = lane
        return response

    async def close(self, response: httpx.Response) -> None:
        """See ``Port``."""
        lane: Lane[TransportT] | None = response.extensions.pop(_LANE, None)
        try:
            await self._closed(response)
        finally:
            if lane is not None:
                await self._give(lane)

    async def close_all(self) -> None:
        """Close all connections, also those in use."""
        for transport in self._lanes.clear():
            await self._shut(transport)

    async def _give(self, lane: Lane[TransportT]) -> None:
        for transport in self._lanes.give(lane):
            await self._shut(transport)

    @abstractmethod
    async def _sent(self, transport: TransportT, request: httpx.Request) -> httpx.Response: ...

    @abstractmethod
    async def _closed(self, response: httpx.Response) -> None: ...

    @abstractmethod
    async def _shut(self, transport: TransportT) -> None: ...


class BlockingPort(_LanedPort[httpx.BaseTransport]):
    """The port of a synchronous call; nothing in it ever suspends."""

    async def blocks(self, response: httpx.Response) -> AsyncIterator[bytes]:
        """See ``Port``."""
        encoded = "content-encoding" in response.headers
        stream = response.iter_bytes() if encoded else cast("Iterator[bytes]", response.stream)
        for block in stream:
            yield block

    async def drain(self, response: httpx.Response, blocks: AsyncIterator[bytes]) -> None:
        """See ``Port``."""
        stream = response.extensions.get("network_stream")
        if stream is None:
            return
        read = stream.read
        # A blocking read cannot be cancelled, and httpcore 1.0.9 fixes its time limit when the
        # body begins; so the stream itself, which outlives this answer, is told to hurry.
        stream.read = _hurried(read)
        try:
            async for _ in blocks:
                break
        except (httpx.HTTPError, httpx.StreamError):
            return
        finally:
            del stream.read

    async def sleep(self, seconds: float) -> None:
        """See ``Port``."""
        time.sleep(seconds)  # noqa: ASYNC251  # this port is the one that blocks

    async def _sent(self, transport: httpx.BaseTransport, request: httpx.Request) -> httpx.Response:
        return transport.handle_request(request)

    async def _closed(self, response: httpx.Response) -> None:
        response.close()

    async def _shut(self, transport: httpx.BaseTransport) -> None:
        transport.close()


def _hurried(read: Callable[..., bytes]) -> Callable[..., bytes]:
    def hurried(max_bytes: int, timeout: float | None = None) -> bytes:
        return read(max_bytes, _DRAIN_S if timeout is None else min(timeout, _DRAIN_S))

    return hurried


class AwaitingPort(_LanedPort[httpx.AsyncBaseTransport]):
    """The port of an asynchronous call; its lanes belong to the running event loop."""

    def blocks(self, response: httpx.Response) -> AsyncIterator[bytes]:
        """See ``Port``."""
        if "content-encoding" in response.headers:
            return response.aiter_bytes()
        return aiter(cast("AsyncIterator[bytes]", response.stream))

    async def drain(self, response: httpx.Response, blocks: AsyncIterator[bytes]) -> None:
        """See ``Port``."""
        del response
        try:
            async with asyncio.timeout(_DRAIN_S):
                async for _ in blocks:
                    break
        except (TimeoutError, httpx.HTTPError, httpx.StreamError):
            return

    async def sleep(self, seconds: float) -> None:
        """See ``Port``."""
        await asyncio.sleep(seconds)

    async def _sent(
        self, transport: httpx.AsyncBaseTransport, request: httpx.Request
    ) -> httpx.Response:
        return await transport.handle_async_request(request)

    async def _closed(self, response: httpx.Response) -> None:
        await response.aclose()

    async def _shut(self, transport: httpx.AsyncBaseTransport) -> None:
        await transport.aclose()
