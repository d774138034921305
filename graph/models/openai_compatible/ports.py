"""Where the client meets the network: the same four verbs, blocking or awaited.

Everything above is written once against ``Port``; asyncio and httpx transports are named only
here and in ``connections.py``. Requests go to the transport directly, not through
``httpx.Client``: no redirects, cookies, environment proxies or log lines, and less work.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Final, Protocol, cast

import httpx

_DRAIN_S: Final = 0.1


class Port(Protocol):
    """Sends requests, reads answers, waits."""

    async def send(self, request: httpx.Request) -> httpx.Response:
        """Return the answer with its headers read and its body still to come."""
        ...

    def blocks(self, response: httpx.Response) -> AsyncIterator[bytes]:
        """Iterate over the decoded body, block by block as it arrives."""
        ...

    async def drain(self, response: httpx.Response, blocks: AsyncIterator[bytes]) -> None:
        """Read the end mark after the last event, shortly, so the connection can be reused."""
        ...

    async def close(self, response: httpx.Response) -> None:
        """Give the connection back, or close it where the body was not read to its end."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait before the next attempt."""
        ...


class BlockingPort:
    """The port of a synchronous call; nothing in it ever suspends.

    Args:
        transport: Where requests go.
    """

    def __init__(self, transport: httpx.BaseTransport) -> None:
        self.transport: Final = transport
        """Where requests go."""

    async def send(self, request: httpx.Request) -> httpx.Response:
        """See ``Port``."""
        return self.transport.handle_request(request)

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
        except httpx.HTTPError:
            return
        finally:
            del stream.read

    async def close(self, response: httpx.Response) -> None:
        """See ``Port``."""
        response.close()

    async def sleep(self, seconds: float) -> None:
        """See ``Port``."""
        time.sleep(seconds)  # noqa: ASYNC251  # this port is the one that blocks


def _hurried(read: Callable[..., bytes]) -> Callable[..., bytes]:
    def hurried(max_bytes: int, timeout: float | None = None) -> bytes:
        return read(max_bytes, _DRAIN_S if timeout is None else min(timeout, _DRAIN_S))

    return hurried


class AwaitingPort:
    """The port of an asynchronous call.

    Args:
        transport: Where requests go; it belongs to the running event loop.
    """

    def __init__(self, transport: httpx.AsyncBaseTransport) -> None:
        self.transport: Final = transport
        """Where requests go."""

    async def send(self, request: httpx.Request) -> httpx.Response:
        """See ``Port``."""
        return await self.transport.handle_async_request(request)

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
        except (TimeoutError, httpx.HTTPError):
            return

    async def close(self, response: httpx.Response) -> None:
        """See ``Port``."""
        await response.aclose()

    async def sleep(self, seconds: float) -> None:
        """See ``Port``."""
        await asyncio.sleep(seconds)
