from __future__ import annotations

import gzip
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

import httpx
import pytest

from interlock.state import ToolExecutionError
from interlock.tools import http_fetch_tool
from interlock.tools.calls import AWAITING
from interlock.tools.fetch_limits import FetchLimits
from interlock.tools.http_fetch import Fetcher

Serve = Callable[..., str]


class Site:
    """A server on loopback that gives set answers and keeps what it was asked."""

    def __init__(self) -> None:
        self.pages: dict[str, tuple[int, dict[str, str], bytes | Callable[[Any], None]]] = {}
        self.asked: list[tuple[str, dict[str, str]]] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: Any) -> None:
                pass

            def do_GET(self) -> None:
                site.asked.append((self.path, dict(self.headers)))
                status, headers, body = site.pages[self.path]
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                if callable(body):
                    body(self.wfile)
                else:
                    self.wfile.write(body)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port: int = self.server.server_address[1]


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    thread = threading.Thread(target=site.server.serve_forever, args=(0.01,))
    thread.start()
    yield site
    site.server.shutdown()
    thread.join()
    site.server.server_close()


def names(**hosts: str) -> Callable[[str, int], list[str]]:
    """A resolver that knows some hosts."""

    def resolve(host: str, port: int) -> list[str]:
        assert port
        if host.partition(".")[0] not in hosts:
            raise OSError
        return hosts[host.partition(".")[0]].split(",")

    return resolve


@pytest.fixture(params=["sync", "async"])
def fetch(request: pytest.FixtureRequest, site: Site) -> Callable[..., Any]:
    """``await fetch(url, **options)`` with loopback allowed, in both modes."""

    async def go(url: str, **options: Any) -> str:
        settings: dict[str, Any] = {
            "networks": ["127.0.0.1/32"],
            "ports": None,
            "resolve": names(site="127.0.0.1"),
            **options,
        }
        tool = http_fetch_tool(**settings)
        full = url.replace("{site}", f"http://site.example:{site.port}")
        if request.param == "sync":
            return cast("str", tool.invoke({"url": full}))
        return cast("str", await tool.ainvoke({"url": full}))

    return go


async def test_page_is_fetched_under_its_name(site: Site, fetch: Any) -> None:
    site.pages["/a?b=1"] = (
        200,
        {"Content-Type": "text/html; charset=latin-1"},
        "é".encode("latin-1"),
    )

    assert await fetch("{site}/a?b=1#c") == "HTTP 200 text/html\n\né"
    ((_, headers),) = site.asked
    assert headers["Host"] == f"site.example:{site.port}"
    assert not {"Authorization", "Cookie"} & set(headers)


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest",
        "http://[::1]/",
        "http://[::ffff:127.0.0.2]/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://0177.0.0.2/",
        "http://127.2/",
        "http://localhost/",
        "http://inner.example/",
        "http://both.example/",
        "http://mapped.example/",
        "http://metadata.google.internal/",
        "http://unknown.example/",
        "file:///etc/passwd",
        "gopher://site.example/",
    ],
)
async def test_what_leads_in_is_refused_and_nothing_leaves(
    site: Site, fetch: Any, url: str
) -> None:
    resolve = names(
        localhost="127.0.0.1",
        inner="10.0.0.1",
        both="93.184.216.34,10.0.0.1",
        mapped="::ffff:10.0.0.1",
        metadata="169.254.169.254",
    )
    with pytest.raises(ToolExecutionError) as caught:
        await fetch(url, resolve=resolve, networks=[])

    assert "10.0.0.1" not in str(caught.value)
    assert site.asked == []


async def test_name_is_resolved_once_and_the_checked_address_is_used(
    site: Site, fetch: Any
) -> None:
    site.pages["/"] = (200, {}, b"ok")
    answers = [["127.0.0.1"], ["10.0.0.1"]]

    def resolve(_host: str, _port: int) -> list[str]:
        return answers.pop(0)

    assert "ok" in await fetch("{site}/", resolve=resolve)
    assert answers == [["10.0.0.1"]]


@pytest.mark.parametrize(
    "location",
    [
        "http://127.0.0.2/",
        "http://169.254.169.254/",
        "http://inner.example/",
        "file:///etc/passwd",
        "http://2130706434/",
        "//[::1]/",
    ],
)
async def test_redirect_that_leads_in_is_refused(site: Site, fetch: Any, location: str) -> None:
    site.pages["/"] = (302, {"Location": location}, b"")

    with pytest.raises(ToolExecutionError):
        await fetch("{site}/", resolve=names(site="127.0.0.1", inner="10.0.0.1"))
    assert len(site.asked) == 1


async def test_redirects_are_followed_so_many_times(site: Site, fetch: Any) -> None:
    for n in range(4):
        site.pages[f"/{n}"] = (307, {"Location": f"/{n + 1}"}, b"")
    site.pages["/4"] = (200, {}, b"there")

    assert "there" in await fetch("{site}/0", max_redirects=4)
    with pytest.raises(ToolExecutionError, match="more than 3 times"):
        await fetch("{site}/0", max_redirects=3)


async def test_long_page_is_cut_with_a_note(site: Site, fetch: Any) -> None:
    site.pages["/"] = (200, {}, b"x" * 500_000)

    answer = await fetch("{site}/", max_bytes=1_000)

    assert answer.endswith("x\n[cut after 1000 bytes]")
    assert len(answer) < 1_100


@pytest.mark.parametrize(("name", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
async def test_packed_page_is_unpacked_no_further_than_needed(
    site: Site, fetch: Any, name: str, pack: Callable[[bytes], bytes]
) -> None:
    site.pages["/small"] = (200, {"Content-Encoding": name}, pack(b"hello"))
    site.pages["/bomb"] = (200, {"Content-Encoding": name}, pack(b"x" * 50_000_000))

    assert (await fetch("{site}/small")).endswith("hello")
    assert (await fetch("{site}/bomb", max_bytes=1_000)).endswith("[cut after 1000 bytes]")


@pytest.mark.parametrize(
    ("headers", "body", "said"),
    [
        ({"Content-Type": "image/png"}, b"x", "no text"),
        ({"Content-Encoding": "br"}, b"x", "not asked for"),
        ({"Content-Encoding": "gzip"}, b"no gzip", "cannot be read"),
    ],
)
async def test_page_that_cannot_be_shown_is_refused(
    site: Site, fetch: Any, headers: dict[str, str], body: bytes, said: str
) -> None:
    site.pages["/"] = (200, headers, body)

    with pytest.raises(ToolExecutionError, match=said):
        await fetch("{site}/")


async def test_page_without_end_ends_in_time(site: Site, fetch: Any) -> None:
    stop = threading.Event()

    def drip(out: Any) -> None:
        try:
            while not stop.wait(0.05):
                out.write(b"x")
        except OSError:
            pass

    site.pages["/"] = (200, {}, drip)
    began = time.monotonic()
    with pytest.raises(ToolExecutionError, match=r"took longer|could not be fetched"):
        await fetch("{site}/", timeout_s=0.5)
    stop.set()

    assert time.monotonic() - began < 5


async def test_failure_of_the_network_names_the_host_only(fetch: Any) -> None:
    with pytest.raises(
        ToolExecutionError, match=r"'site.example' could not be fetched: ConnectError"
    ):
        await fetch("http://site.example:1/")


async def test_error_page_is_an_answer(site: Site, fetch: Any) -> None:
    site.pages["/"] = (404, {"Content-Type": "application/problem+json"}, b"{}")

    assert await fetch("{site}/") == "HTTP 404 application/problem+json\n\n{}"


async def test_unknown_charset_is_read_as_utf_8(site: Site, fetch: Any) -> None:
    site.pages["/"] = (200, {"Content-Type": "text/plain; charset=nonsense"}, "é".encode())

    assert (await fetch("{site}/")).endswith("é")


async def test_proxy_of_the_environment_is_not_used(
    site: Site, fetch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.pages["/"] = (200, {}, b"direct")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")

    assert "direct" in await fetch("{site}/")


async def test_certificate_is_asked_for_by_name_and_not_by_address() -> None:
    fetcher = Fetcher(FetchLimits(), names(site="93.184.216.34"))
    url = httpx.URL("https://site.example/a")
    request = await fetcher._pinned(url, AWAITING, time.monotonic() + 5)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]

    assert str(request.url) == "https://93.184.216.34/a"
    assert request.headers["Host"] == "site.example"
    assert request.extensions["sni_hostname"] == "site.example"
