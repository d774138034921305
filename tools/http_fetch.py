"""A tool that reads pages of the public web, and nothing of the network it runs in."""

from __future__ import annotations

import codecs
import re
import socket
import ssl
import time
import zlib
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from ipaddress import ip_address
from typing import Any, NoReturn

import httpx
from langchain_core.tools import StructuredTool

from .addresses import Address, is_reachable, literal_address, read_networks
from .calls import AWAITING, BLOCKING, Calls, Dual, run_inline
from .fetch_limits import NAME, OWN_PORTS, FetchLimits, fail
from .http_ports import AwaitingHttp, BlockingHttp, HttpPort

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_TEXT = re.compile(
    r"text/|application/(?:[\w.-]*\+)?(?:json|xml|javascript|yaml)|application/xhtml"
)
_NO_CHARSETS = {"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"}
"""Codecs of Python that are no character sets: they fail, or take long."""
_HEADERS = {
    "Accept": "text/*, application/json;q=0.9",
    "Accept-Encoding": "identity",
    "User-Agent": "interlock",
}

Resolve = Callable[[str, int], Iterable[str]]
"""``(host, port)`` to the addresses of the host, as text."""


def resolve_host(host: str, port: int) -> list[str]:
    """The addresses of a host, as the system knows them."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def http_fetch_tool(
    *,
    hosts: Collection[str] | None = None,
    schemes: Collection[str] = ("https", "http"),
    ports: Collection[int] | None = (80, 443),
    networks: Collection[str] = (),
    max_bytes: int = 1_000_000,
    timeout_s: float = 20.0,
    max_redirects: int = 5,
    resolve: Resolve = resolve_host,
) -> StructuredTool:
    """A tool that fetches a page by its URL, with GET and without credentials.

    A host is resolved once, every address it has must be public, and the connection goes to the
    address that was checked, so a name that changes its address in between gains nothing. Each
    redirect is checked like the first URL; none leads from https to http.

    Args:
        hosts: Hosts that may be asked, ``*.example.com`` for those below; all by default.
        schemes: Schemes that may be used.
        ports: Ports that may be used; None for all.
        networks: Networks that may be reached although they are not public, such as
            ``10.1.0.0/16``.
        max_bytes: Bytes of a page that are read; the rest is cut off, with a note.
        timeout_s: Longest fetch, redirects included, in seconds; it holds as well where a server
            sends a byte now and then.
        max_redirects: Redirects that are followed.
        resolve: Finds the addresses of a host.

    Raises:
        ConfigurationError: A limit is wrong.
    """
    limits = FetchLimits(
        hosts=None if hosts is None else tuple(host.lower() for host in hosts),
        schemes=tuple(schemes),
        ports=None if ports is None else tuple(ports),
        networks=tuple(networks),
        max_bytes=max_bytes,
        timeout_s=timeout_s,
        max_redirects=max_redirects,
    )
    fetcher = Fetcher(limits, resolve)

    def fetch(url: str) -> str:
        return run_inline(fetcher.fetch(url, BLOCKING, BlockingHttp(fetcher.context)))

    async def fetch_later(url: str) -> str:
        return await fetcher.fetch(url, AWAITING, AwaitingHttp(fetcher.context))

    return StructuredTool.from_function(
        fetch,
        coroutine=fetch_later,
        name=NAME,
        description="Fetch a page or document of the public web as text, by its full URL.",
    )


class Fetcher:
    """Fetches pages within limits.

    Args:
        limits: What a fetch may do.
        resolve: Finds the addresses of a host.
    """

    def __init__(self, limits: FetchLimits, resolve: Resolve = resolve_host) -> None:
        self._limits = limits
        self._resolve = resolve
        self._networks = read_networks(limits.networks)
        self._context: ssl.SSLContext | None = None

    def context(self) -> ssl.SSLContext:
        """What certificates are checked with; made once, because it takes long."""
        if self._context is None:
            self._context = httpx.create_ssl_context(trust_env=False)
        return self._context

    async def fetch(self, url: str, calls: Calls, http: HttpPort) -> str:
        """The status, the type and the text of a page.

        Raises:
            ToolExecutionError: The page may not be, or cannot be, fetched.
        """
        if calls.synchronous:
            # What blocks cannot be cancelled; its port watches the time.
            return await self._fetch(url, calls, http)
        work = Dual(NAME, asynchronous=self._fetch)
        try:
            page: str = await calls.within(self._limits.timeout_s, work, url, calls, http)
        except TimeoutError as error:
            self._fail_late("The page", error)
        return page

    async def _fetch(self, url: str, calls: Calls, http: HttpPort) -> str:
        deadline = time.monotonic() + self._limits.timeout_s
        target = self._limits.check(url)
        for _ in range(self._limits.max_redirects + 1):
            request = await self._pinned(target, calls, deadline)
            try:
                response = await http.send(request)
                try:
                    location = response.headers.get("location")
                    if response.status_code not in _REDIRECTS or not location:
                        return await self._read(response, http, deadline)
                finally:
                    await http.close(response)
            except httpx.TimeoutException as error:
                self._fail_late(repr(target.host), error)
            except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
                fail(f"{target.host!r} could not be fetched: {type(error).__name__}", error)
            target = self._limits.check_redirect(target, location)
        return fail(f"{target.host!r} redirects more than {self._limits.max_redirects} times")

    async def _pinned(self, url: httpx.URL, calls: Calls, deadline: float) -> httpx.Request:
        """A request to a checked address of the host, under the host's name."""
        left = deadline - time.monotonic()
        if left <= 0:
            self._fail_late(repr(url.host))
        host, port = url.raw_host.decode(), url.port or OWN_PORTS[url.scheme]
        address = await self._address(host, port, calls, left)
        timeout = dict.fromkeys(("connect", "read", "write", "pool"), left)
        return httpx.Request(
            "GET",
            url.copy_with(host=str(address)),
            headers={**_HEADERS, "Host": url.netloc.decode()},
            extensions={"sni_hostname": host, "timeout": timeout},
        )

    async def _address(self, host: str, port: int, calls: Calls, left: float) -> Address:
        refused = f"The address of {host!r} is not public, so it is not fetched"
        try:
            literal = literal_address(host)
        except ValueError as error:
            fail(refused, error)
        if literal is not None:
            addresses: Sequence[Address] = [literal]
        else:
            try:
                found = await calls.within(left, Dual("resolve", sync=self._resolve), host, port)
                addresses = [ip_address(text.partition("%")[0]) for text in found]
            except (OSError, ValueError, TimeoutError) as error:
                fail(f"Host {host!r} has no address", error)
        if not addresses or not all(is_reachable(a, self._networks) for a in addresses):
            fail(refused)
        return addresses[0]

    async def _read(self, response: httpx.Response, http: HttpPort, deadline: float) -> str:
        kind = response.headers.get("content-type", "text/plain").lower()
        if not _TEXT.match(kind):
            fail(f"The page is of type {kind.partition(';')[0][:60]!r}, which is no text")
        blocks = http.blocks(response)
        data, cut = await self._body(response, blocks, deadline)
        text = _decoded(data, response.charset_encoding or "utf-8")
        note = f"\n[cut after {self._limits.max_bytes} bytes]" if cut else ""
        return f"HTTP {response.status_code} {kind.partition(';')[0]}\n\n{text}{note}"

    async def _body(
        self, response: httpx.Response, blocks: AsyncIterator[bytes], deadline: float
    ) -> tuple[bytes, bool]:
        """The first bytes of a body, and whether there are more; unpacked only so far."""
        unpack = _unpacker(response.headers.get("content-encoding", "identity"))
        most, data = self._limits.max_bytes, b""
        async for block in blocks:
            data += unpack(block, most + 1 - len(data))
            if len(data) > most:
                return data[:most], True
            if time.monotonic() > deadline:
                self._fail_late("The page")
        return data, False

    def _fail_late(self, what: str, cause: Exception | None = None) -> NoReturn:
        fail(f"{what} took longer than {self._limits.timeout_s:g} s", cause)


def _decoded(data: bytes, charset: str) -> str:
    """The text of a page, read as UTF-8 where its character set is not known."""
    try:
        known = codecs.lookup(charset).name
        return data.decode("utf-8" if known in _NO_CHARSETS else known, "replace")
    except (LookupError, ValueError):
        return data.decode("utf-8", "replace")


def _unpacker(encoding: str) -> Callable[[bytes, int], bytes]:
    """Unpacks the blocks of a body, up to a number of bytes: a small block can hold a great deal."""
    name = encoding.strip().lower()
    if name in {"", "identity"}:
        return lambda block, _most: block
    if name not in {"gzip", "deflate", "x-gzip"}:
        fail(f"The page is packed with {name[:20]!r}, which was not asked for")
    unpacker: Any = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)

    def unpack(block: bytes, most: int) -> bytes:
        try:
            return bytes(unpacker.decompress(unpacker.unconsumed_tail + block, most))
        except zlib.error as error:
            fail("The page is packed in a way that cannot be read", error)

    return unpack
