from __future__ import annotations

from collections.abc import Callable

import pytest

Found = Callable[[str, str], list[str]]

# Put together here, so that no scanner takes this file for a leak.
TAIL = "abcdefghijklmnopqrstuvwxyz0123456789"
KEYS = [
    f"sk-proj-{TAIL}",
    f"sk-ant-api03-{TAIL}",
    f"sk_live_{TAIL}",
    "AKIA" + "IOSFODNN7EXAMPLE",
    f"ghp_{TAIL}",
    f"github_pat_{TAIL}",
    f"glpat-{TAIL}",
    f"xoxb-{TAIL}",
    f"AIza{TAIL[:35]}",
    f"ya29.{TAIL}",
    f"hf_{TAIL}",
    f"gsk_{TAIL}",
    f"lsv2_pt_{TAIL}",
    f"npm_{TAIL}",
    f"SG.{TAIL}.{TAIL}",
    f"dapi{'0' * 32}",
    f"123456789:AA{TAIL[:33]}",
    f"eyJ{TAIL}.eyJ{TAIL}.{TAIL}",
]


@pytest.mark.parametrize("key", KEYS)
def test_key_is_found_by_its_mark(found: Found, key: str) -> None:
    assert found("api_key", f"the key ({key})") == [key]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("password=hunter2hunter2", "hunter2hunter2"),
        ('"api_key": "0123456789abcdef"', "0123456789abcdef"),
        ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG", "wJalrXUtnFEMI/K7MDENG"),
        ("Authorization: Bearer abcdef0123456789", "abcdef0123456789"),
        ("postgres://user:s3cretpw@db/x", "s3cretpw"),
    ],
)
def test_secret_is_found_by_what_stands_before_it(found: Found, text: str, secret: str) -> None:
    assert found("api_key", text) == [secret]


@pytest.mark.parametrize("around", ["token={}", '"password": "{}"', "https://u:{}@host"])
def test_secret_is_found_whole_however_long_it_is(found: Found, around: str) -> None:
    secret = "Ab1_" * 1_000

    assert found("api_key", around.format(secret)) == [secret]


@pytest.mark.parametrize("end", ["\n-----END RSA PRIVATE KEY-----", ""])
def test_private_key_is_found_even_without_its_end(found: Found, end: str) -> None:
    key = f"-----BEGIN RSA PRIVATE KEY-----\nMIIEow{end}"

    assert found("api_key", f"here: {key}") == [key]


@pytest.mark.parametrize(
    "text", ["sk-short", "the token is here", "password: x", "ask-me-anything"]
)
def test_ordinary_words_are_left(found: Found, text: str) -> None:
    assert found("api_key", text) == []
