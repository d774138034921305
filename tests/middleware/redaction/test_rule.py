from __future__ import annotations

from typing import Any

import pytest
from pydantic import SecretStr

from interlock.middleware.redaction import RedactionRule
from interlock.state.errors import ConfigurationError


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"pii_type": "email", "strategy": "erase"}, "erase"),
        ({"pii_type": ""}, "empty"),
        ({"pii_type": "nothing"}, "nothing"),
        ({"pii_type": "x", "detector": "(a+)+$"}, "for ever"),
        ({"pii_type": "x", "detector": "[", "strategy": "mask"}, "position 0"),
        ({"pii_type": "email", "max_chars": 0}, "max_chars"),
        ({"pii_type": "email", "key": ""}, "key is empty"),
    ],
)
def test_wrong_setting_is_refused_by_name(settings: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigurationError, match=named):
        RedactionRule(**settings).resolve()


def test_rule_gives_the_new_text_and_what_was_found() -> None:
    text, matches = RedactionRule("email").resolve().apply("to kim@example.com")

    assert text == "to [REDACTED_EMAIL]"
    assert [m["value"] for m in matches] == ["kim@example.com"]


def test_token_is_the_same_in_rules_of_one_key_and_of_no_key_in_none() -> None:
    def token(key: Any) -> str:
        return RedactionRule("email", "token", key=key).resolve().redact("kim@example.com")

    assert token("secret") == token(SecretStr("secret")) == token(b"secret")
    assert token(None) != token(None)


def test_replaced_values_are_put_aside_under_their_tokens() -> None:
    vault: dict[str, str] = {}
    text = RedactionRule("email", "token").resolve().redact("a@b.co", vault)

    assert vault == {text: "a@b.co"}


def test_repr_does_not_show_the_key() -> None:
    assert "hush" not in repr(RedactionRule("email", "hash", key="hushhush").resolve())
