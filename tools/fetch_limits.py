"""Which URLs may be fetched."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final, NoReturn

import httpx

from ..state.errors import ConfigurationError, ToolExecutionError
from .addresses import read_networks

NAME: Final = "http_fetch"
"""Name of the tool."""

OWN_PORTS: Final = {"http": 80, "https": 443}
"""Ports of URLs that name none."""

_LONGEST_URL = 4_000
_LAST_PORT = 65_535


@dataclass(frozen=True)
class FetchLimits:
    """What a fetch may do. Times are in seconds."""

    hosts: tuple[str, ...] | None = None
    schemes: tuple[str, ...] = ("https", "http")
    ports: tuple[int, ...] | None = (80, 443)
    networks: tuple[str, ...] = ()
    max_bytes: int = 1_000_000
    timeout_s: float = 20.0
    max_redirects: int = 5

    def __post_init__(self) -> None:
        for name in ("max_bytes", "timeout_s"):
            if getattr(self, name) <= 0:
                msg = f"{name} is {getattr(self, name)!r}; it must be positive."
                raise ConfigurationError(msg)
        if self.max_redirects < 0:
            msg = f"max_redirects is {self.max_redirects!r}; it must not be negative."
            raise ConfigurationError(msg)
        if unknown := set(self.schemes) - {"http", "https"}:
            msg = f"schemes holds {', '.join(sorted(unknown))}; only http and https can be fetched."
            raise ConfigurationError(msg)
        read_networks(self.networks)

    def check(self, url: str) -> httpx.URL:
        """The URL, if its parts are such as may be fetched.

        Raises:
            ToolExecutionError: They are not.
        """
        if len(url) > _LONGEST_URL or any(
            c.isspace() or not c.isprintable() or c == "\\" for c in url
        ):
            fail("This is no URL: it is too long, or holds spaces or control characters")
        try:
            read = httpx.URL(url)
            host, port = read.raw_host.decode().lower().rstrip("."), read.port
        except (httpx.InvalidURL, UnicodeError, ValueError) as error:
            fail("This is no valid URL", error)
        if read.scheme not in self.schemes:
            fail(f"Only {' and '.join(self.schemes)} can be fetched, not {read.scheme!r}")
        if not host or read.userinfo:
            fail("A URL needs a host and may hold no user or password")
        if port is not None and port > _LAST_PORT:
            fail("This is no valid URL")
        if self.ports is not None and (port or OWN_PORTS[read.scheme]) not in self.ports:
            fail(f"Port {port} of {host!r} may not be asked")
        if self.hosts is not None and not any(fnmatchcase(host, h) for h in self.hosts):
            fail(f"Host {host!r} is not on the list of allowed hosts")
        return read.copy_with(fragment=None)

    def check_redirect(self, old: httpx.URL, location: str) -> httpx.URL:
        """The URL that a page redirects to, if it may be fetched.

        Raises:
            ToolExecutionError: It may not.
        """
        try:
            joined = str(old.join(location))
        except (httpx.InvalidURL, ValueError) as error:
            fail(f"{old.host!r} redirects to something that is no URL", error)
        new = self.check(joined)
        if old.scheme == "https" and new.scheme != "https":
            fail(f"{old.host!r} redirects from https to http")
        return new


def fail(what: str, cause: Exception | None = None) -> NoReturn:
    """End the fetch.

    Raises:
        ToolExecutionError: Always.
    """
    msg = f"{what}."
    raise ToolExecutionError(msg, tool_name=NAME) from cause
