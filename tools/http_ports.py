"""Sending a request and reading its answer, blocking or awaited; each port serves one fetch."""

from __future__ import annotations

import ssl
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import Any, Protocol, cast

import httpx

_UNUSED = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For plain http, where no certificate is checked: the real one takes long to make."""

_SHORTEST_S = 0.001
"""What a blocking call is given when no time is left, so that it ends as one that took too long."""

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

    The time limit of a request holds for the whole of it: connecting, headers and body.

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
        request.extensions["trace"] = _clocked(request.extensions["timeout"]["read"])
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


def _clocked(seconds: float) -> Callable[[str, Mapping[str, Any]], None]:
    """Makes each connection end in time: by itself it begins anew to wait with every byte.

    Args:
        seconds: Time that all waiting together may take, from now on.
    """
    deadline = time.monotonic() + seconds

    def clocked(action: Callable[..., Any]) -> Callable[..., Any]:
        def act(*args: Any, timeout: float | None = None, **options: Any) -> Any:
            left = max(deadline - time.monotonic(), _SHORTEST_S)
            return action(*args, timeout=left if timeout is None else min(timeout, left), **options)

        return act

    def traced(event: str, about: Mapping[str, Any]) -> None:
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            stream = about["return_value"]
            for name in ("read", "write", "start_tls"):
                setattr(stream, name, clocked(getattr(stream, name)))

    return traced


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
