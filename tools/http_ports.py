"""Sending a request and reading its answer, blocking or awaited; each port serves one fetch."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Protocol, cast

import httpx

_UNUSED = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For plain http, where no certificate is checked: the real one takes long to make."""

Context = Callable[[], ssl.SSLContext]
"""Gives what certificates are checked with, when it is needed."""


class HttpPort(Protocol):
    """What a fetch needs of the network. Redirects, cookies and proxies are not followed or used."""

    async def send(self, request: httpx.Request) -> httpx.Response:
        """The answer, its body still to come."""
        ...

    def blocks(self, response: httpx.Response) -> AsyncIterator[bytes]:
        """The body as it comes, not unpacked."""
        ...

    async def close(self, response: httpx.Response) -> None:
        """Close the connection."""
        ...


class BlockingHttp:
    """The port of a synchronous fetch; nothing in it suspends.

    Args:
        context: Gives what certificates are checked with.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._transport: httpx.HTTPTransport | None = None

    async def send(self, request: httpx.Request) -> httpx.Response:
        """See ``HttpPort``."""
        self._transport = httpx.HTTPTransport(
            verify=_context_for(request, self._context), trust_env=False
        )
        return self._transport.handle_request(request)

    async def blocks(self, response: httpx.Response) -> AsyncIterator[bytes]:
        """See ``HttpPort``."""
        for block in cast("Iterable[bytes]", response.stream):
            yield block

    async def close(self, response: httpx.Response) -> None:
        """See ``HttpPort``."""
        response.close()
        if self._transport is not None:
            self._transport.close()


class AwaitingHttp:
    """The port of an asynchronous fetch.

    Args:
        context: Gives what certificates are checked with.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._transport: httpx.AsyncHTTPTransport | None = None

    async def send(self, request: httpx.Request) -> httpx.Response:
        """See ``HttpPort``."""
        self._transport = httpx.AsyncHTTPTransport(
            verify=_context_for(request, self._context), trust_env=False
        )
        return await self._transport.handle_async_request(request)

    def blocks(self, response: httpx.Response) -> AsyncIterator[bytes]:
        """See ``HttpPort``."""
        return aiter(cast("AsyncIterator[bytes]", response.stream))

    async def close(self, response: httpx.Response) -> None:
        """See ``HttpPort``."""
        await response.aclose()
        if self._transport is not None:
            await self._transport.aclose()


def _context_for(request: httpx.Request, context: Context) -> ssl.SSLContext:
    return context() if request.url.scheme == "https" else _UNUSED
