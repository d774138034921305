"""The connection pools of one chat model: one for blocking calls, one per event loop."""

from __future__ import annotations

import asyncio
import ssl
import weakref
from collections.abc import AsyncGenerator
from functools import lru_cache
from typing import Any, Final

import httpx

from .ports import AwaitingPort, BlockingPort

_LIMITS: Final = httpx.Limits(
    max_connections=2000, max_keepalive_connections=100, keepalive_expiry=30.0
)


@lru_cache(maxsize=16)
def _tls(ca_file: str | None) -> ssl.SSLContext:
    # Reading the bundle takes tens of milliseconds, so all models share the context.
    if ca_file is None:
        return httpx.create_ssl_context(trust_env=False)
    return ssl.create_default_context(cafile=ca_file)


class Connections:
    """Opens pools when they are first needed and closes them with their owner or their loop.

    Copies and pickles start without connections, so a model can be copied and sent to another
    process.

    Args:
        proxy: URL of the proxy; the environment is never asked for one.
        ca_file: File of certificates to trust instead of the usual bundle.
        transport: Replaces the blocking pool.
        async_transport: Replaces the pools of all event loops.
    """

    def __init__(
        self,
        *,
        proxy: str | None = None,
        ca_file: str | None = None,
        transport: httpx.BaseTransport | None = None,
        async_transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._proxy = proxy
        self._ca_file = ca_file
        self._given = transport
        self._given_async = async_transport
        self._blocking: BlockingPort | None = None
        self._closer: weakref.finalize[..., Any] | None = None
        self._awaiting: weakref.WeakKeyDictionary[
            asyncio.AbstractEventLoop, tuple[AwaitingPort, AsyncGenerator[None, None]]
        ] = weakref.WeakKeyDictionary()

    def blocking(self) -> BlockingPort:
        """Return the port for blocking calls."""
        if self._blocking is None:
            transport = self._given
            if transport is None:
                transport = httpx.HTTPTransport(
                    verify=_tls(self._ca_file), trust_env=False, limits=_LIMITS, proxy=self._proxy
                )
                self._closer = weakref.finalize(self, transport.close)
            self._blocking = BlockingPort(transport)
        return self._blocking

    async def awaiting(self) -> AwaitingPort:
        """Return the port for the running event loop: its connections cannot serve another."""
        loop = asyncio.get_running_loop()
        held = self._awaiting.get(loop)
        if held is not None:
            return held[0]
        if self._given_async is not None:
            port = AwaitingPort(self._given_async)
            keeper = _close_at_end(None)
        else:
            transport = httpx.AsyncHTTPTransport(
                verify=_tls(self._ca_file), trust_env=False, limits=_LIMITS, proxy=self._proxy
            )
            port = AwaitingPort(transport)
            keeper = _close_at_end(transport)
        self._awaiting[loop] = (port, keeper)
        await anext(keeper)
        return port

    def close(self) -> None:
        """Close the connections of blocking calls."""
        self._blocking = None
        if self._closer is not None:
            self._closer()

    async def aclose(self) -> None:
        """Close the connections of blocking calls and of the running event loop."""
        self.close()
        held = self._awaiting.pop(asyncio.get_running_loop(), None)
        if held is not None:
            await held[1].aclose()

    def __deepcopy__(self, _memo: dict[int, Any]) -> Connections:
        return Connections(
            proxy=self._proxy,
            ca_file=self._ca_file,
            transport=self._given,
            async_transport=self._given_async,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return (Connections, ())


async def _close_at_end(
    transport: httpx.AsyncHTTPTransport | None,
) -> AsyncGenerator[None, None]:
    """Close the transport when the event loop shuts down.

    A loop finishes the asynchronous generators that are still open before it closes
    (``shutdown_asyncgens``); this one waits for that moment. Without it sockets would outlive
    their loop and warn.
    """
    try:
        yield
    finally:
        if transport is not None:
            await transport.aclose()
