from __future__ import annotations

import pytest

from interlock.middleware.redaction import BUILTIN_DETECTORS
from interlock.middleware.redaction.strategy import TOKEN, apply_strategy
from interlock.state.errors import ConfigurationError
from interlock.state.guardrail_errors import PIIDetectionError


def applied(kind: str, text: str, strategy: str, key: bytes | None = None) -> str:
    return apply_strategy(text, BUILTIN_DETECTORS[kind](text), strategy, key)


@pytest.mark.parametrize(
    ("kind", "text", "masked"),
    [
        ("email", "kim@mail.example.com", "kim@****.com"),
        ("credit_card", "4111-1111-1111-1111", "****-****-****-1111"),
        ("credit_card", "4111111111111111", "************1111"),
        ("ip", "192.168.1.100", "*.*.*.100"),
        ("ip", "fe80::1", "****:1"),
        ("mac_address", "00:11:22:33:44:55", "**:**:**:**:**:55"),
        ("url", "https://example.com/a", "[MASKED_URL]"),
        ("phone", "+49 30 12345678", "****78"),
        ("iban", "DE89 3704 0044 0532 0130 00", "DE****0 00"),
        ("api_key", "password=hunter2hunter2", "password=****"),
    ],
)
def test_mask_leaves_what_its_owner_recognises(kind: str, text: str, masked: str) -> None:
    assert applied(kind, text, "mask") == masked


@pytest.mark.parametrize("strategy", ["redact", "mask", "hash", "token"])
@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("email", "kim@example.com"),
        ("credit_card", "4111 1111 1111 1111"),
        ("ip", "fe80::1 and 10.0.0.1"),
        ("mac_address", "00:11:22:33:44:55"),
        ("url", "https://example.com/a"),
        ("phone", "+49 30 12345678"),
        ("iban", "DE89370400440532013000"),
        ("api_key", "sk-abcdefghijklmnopqrstuvwxyz"),
    ],
)
def test_what_takes_its_place_is_not_found_again(kind: str, text: str, strategy: str) -> None:
    once = applied(kind, text, strategy, b"k")

    assert once != text
    assert applied(kind, once, strategy, b"k") == once


def test_block_says_what_was_found_but_not_the_value() -> None:
    with pytest.raises(PIIDetectionError, match=r"2 instance\(s\) of email") as caught:
        applied("email", "a@b.co c@d.org", "block")

    assert "a@b.co" not in str(caught.value)
    assert [m["value"] for m in caught.value.matches] == ["a@b.co", "c@d.org"]


def test_hash_depends_on_value_and_key_only() -> None:
    one = applied("email", "a@b.co, a@b.co, c@d.org", "hash", b"k").split(", ")

    assert one[0] == one[1] != one[2]
    assert applied("email", "a@b.co", "hash", b"other") != one[0]
    assert one[0].startswith("<email_hash:")


def test_token_looks_like_one_whatever_the_kind_is_called() -> None:
    match = {"type": "Indian phone: <new>", "value": "x", "start": 0, "end": 1}

    assert TOKEN.fullmatch(apply_strategy("x", [match], "token", b"k"))  # type: ignore[list-item]


def test_unknown_strategy_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigurationError, match="'erase'; the strategies are block, redact"):
        applied("email", "a@b.co", "erase")
