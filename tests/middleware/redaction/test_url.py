from __future__ import annotations

from collections.abc import Callable

import pytest

Found = Callable[[str, str], list[str]]


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("Visit http://example.com for more.", "http://example.com"),
        ("(https://x.org/a_(b))", "https://x.org/a_(b)"),
        ("https://example.com/path?q=1#top.", "https://example.com/path?q=1#top"),
        ("Check www.example.com!", "www.example.com"),
        ("Go to example.com/page now", "example.com/page"),
        ("shop.example.co.uk:8080/x", "shop.example.co.uk:8080/x"),
        ("ftp://files.example.com/a,", "ftp://files.example.com/a"),
        ("HTTPS://EXAMPLE.COM/A", "HTTPS://EXAMPLE.COM/A"),
        ("postgres://u:p@db/x", "postgres://u:p@db/x"),
    ],
)
def test_address_is_found_without_the_punctuation_behind_it(
    found: Found, text: str, url: str
) -> None:
    assert found("url", text) == [url]


@pytest.mark.parametrize("text", ["No URLs here.", "a/b", "and/or", "1.5/2", "kim@example.com/x"])
def test_what_is_no_address_is_left(found: Found, text: str) -> None:
    assert found("url", text) == []
