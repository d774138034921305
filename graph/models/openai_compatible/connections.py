"""The connections of one chat model: some for blocking calls, others for each event loop."""

from __future__ import annotations

import asyncio
import math
import ssl
import weakref
from collections.abc import AsyncGenerator, Callable
from functools import lru_cache, partial
from threading import Lock
from typing import Any, Final, TypeVar

import httpx

from ....tools.calls import run_inline
from .lanes import Lanes
from .loop_network import LoopTransport
from .ports import AwaitingPort, BlockingPort

TransportT = TypeVar("TransportT")

_MOST: Final = 2000
"""Connections of one kind; further requests wait for one of them."""
_IDLE_S: Final = 30.0
"""Seconds that a connection is kept for the next request."""
_ONE: Final = httpx.Limits(max_connections=1, max_keepalive_connections=1, keepalive_expiry=_IDLE_S)


@lru_cache(maxsize=16)
def _tls(ca_file: str | None) -> ssl.SSLContext:
    # Reading the bundle takes tens of milliseconds, so all models share the context.
    if ca_file is None:
        return httpx.create_ssl_context(trust_env=False)
    return ssl.create_default_context(cafile=ca_file)


def _proxy(url: str, tls: ssl.SSLContext) -> httpx.Proxy:
    # The way to the proxy trusts what the way to the provider trusts.
    return httpx.Proxy(url, ssl_context=tls if url.startswith("https:") else None)


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
        self._lock = Lock()
        self._blocking: BlockingPort | None = None
        self._closer: weakref.finalize[..., Any] | None = None
        self._awaiting: weakref.WeakKeyDictionary[
            asyncio.AbstractEventLoop, tuple[AwaitingPort, AsyncGenerator[None, None]]
        ] = weakref.WeakKeyDictionary()

    def blocking(self) -> BlockingPort:
        """Return the port for blocking calls."""
        with self._lock:
            if self._blocking is None:
                port = BlockingPort(self._lanes(httpx.HTTPTransport, self._given))
                if self._given is None:
                    self._closer = weakref.finalize(self, _close_all, port)
                self._blocking = port
            return self._blocking

    async def awaiting(self) -> AwaitingPort:
        """Return the port for the running event loop: its connections cannot serve another."""
        loop = asyncio.get_running_loop()
        held = self._awaiting.get(loop)
        if held is not None:
            return held[0]
        port = AwaitingPort(self._lanes(LoopTransport, self._given_async))
        keeper = _close_at_end(port if self._given_async is None else None)
        self._awaiting[loop] = (port, keeper)
        await anext(keeper)
        return port

    def _lanes(
        self, kind: Callable[..., TransportT], given: TransportT | None
    ) -> Lanes[TransportT]:
        if given is not None:
            return Lanes(lambda: given, limit=1, idle_s=math.inf)
        tls = _tls(self._ca_file)
        proxy = None if self._proxy is None else _proxy(self._proxy, tls)
        make = partial(kind, verify=tls, trust_env=False, limits=_ONE, proxy=proxy)
        return Lanes(make, limit=_MOST, idle_s=_IDLE_S)

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


def _close_all(port: BlockingPort) -> None:
    run_inline(port.close_all(), "the chat model")


async def _close_at_end(port: AwaitingPort | None) -> AsyncGenerator[None, None]:
    """Close the connections when the event loop shuts down.

    A loop finishes the asynchronous generators that are still open before it closes
    (``shutdown_asyncgens``); this one waits for that moment. Without it sockets would outlive
    their loop and warn.
    """
    try:
        yield
    finally:
        if port is not None:
            await port.close_all()
