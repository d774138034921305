from __future__ import annotations

from typing import Any

import httpx
import pytest

from interlock.state import ConfigurationError, ToolExecutionError
from interlock.tools.fetch_limits import FetchLimits


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("file:///etc/passwd", "not 'file'"),
        ("gopher://example.com", "not 'gopher'"),
        ("ftp://example.com", "not 'ftp'"),
        ("javascript:alert(1)", "Only"),
        ("example.com", "Only"),
        ("", "Only"),
        ("http://", "host"),
        ("http:///x", "host"),
        ("http://user:pass@example.com", "password"),
        ("http://user@example.com", "password"),
        ("http://example.com:22", "Port 22"),
        ("http://example.com:99999", "valid"),
        ("http://exam ple.com", "URL"),
        ("http://example.com\n.evil.com", "URL"),
        ("http://evil.com\\@example.com", "URL"),
        ("http://example.com/\u202e", "URL"),
        ("http://example.com/" + "a" * 4_000, "too long"),
        ("http://[::1", "valid"),
    ],
)
def test_url_that_may_not_be_fetched_is_refused(url: str, said: str) -> None:
    with pytest.raises(ToolExecutionError, match=said):
        FetchLimits().check(url)


def test_only_allowed_hosts_may_be_asked() -> None:
    limits = FetchLimits(hosts=("example.com", "*.example.org"))

    assert limits.check("https://EXAMPLE.com./x#y").path == "/x"
    assert limits.check("https://a.example.org").host == "a.example.org"
    for host in ("example.org", "evil.com", "example.com.evil.com", "notexample.com"):
        with pytest.raises(ToolExecutionError, match="not on the list"):
            limits.check(f"https://{host}")


@pytest.mark.parametrize(
    ("location", "said"),
    [
        ("http://example.com", "https to http"),
        ("file:///etc", "'file'"),
        ("//u:p@x.com", "password"),
    ],
)
def test_redirect_is_checked_like_a_url(location: str, said: str) -> None:
    with pytest.raises(ToolExecutionError, match=said):
        FetchLimits().check_redirect(httpx.URL("https://example.com/a"), location)


def test_redirect_may_be_relative() -> None:
    new = FetchLimits().check_redirect(httpx.URL("https://example.com/a/b"), "../c?d=1")

    assert str(new) == "https://example.com/c?d=1"


@pytest.mark.parametrize(
    "settings",
    [
        {"max_bytes": 0},
        {"timeout_s": 0},
        {"max_redirects": -1},
        {"schemes": ("ftp",)},
        {"networks": ("10.0.0.1/8",)},
    ],
)
def test_wrong_limit_is_refused(settings: Any) -> None:
    with pytest.raises(ConfigurationError):
        FetchLimits(**settings)
