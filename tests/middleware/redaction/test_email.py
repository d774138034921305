from __future__ import annotations

from collections.abc import Callable

import pytest

Found = Callable[[str, str], list[str]]


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("write to kim@example.com, please", "kim@example.com"),
        ("KIM.LEE+news@Mail.Example.CO.UK.", "KIM.LEE+news@Mail.Example.CO.UK"),
        ("<kim@example.com>", "kim@example.com"),
        ("mailto:kim@example.com?subject=x", "kim@example.com"),
        ("o'brien@example.ie", "o'brien@example.ie"),
        ("ü@bücher.de", "ü@bücher.de"),
        ('"kim lee"@example.com', '"kim lee"@example.com'),
        ("kim@[192.168.0.1]", "kim@[192.168.0.1]"),
        ("x?to=kim%40example.com&y", "kim%40example.com"),
        ("kim&#64;example.com", "kim&#64;example.com"),
        ("kim [at] example [dot] com", "kim [at] example [dot] com"),
        ("kim(at)example.com", "kim(at)example.com"),
        ("kim@example.com.5", "kim@example.com"),
        ("名前kim@example.com", "名前kim@example.com"),
    ],
)
def test_address_is_found_as_written(found: Found, text: str, address: str) -> None:
    assert found("email", text) == [address]


@pytest.mark.parametrize("text", ["@test.com", "user@", "user@domain", "a @ b", "@", "v1@2.3"])
def test_what_is_no_address_is_left(found: Found, text: str) -> None:
    assert found("email", text) == []


def test_every_address_of_a_text_is_found(found: Found) -> None:
    assert found("email", "a@b.co,c@d.org;e@f.net") == ["a@b.co", "c@d.org", "e@f.net"]
