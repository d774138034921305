"""What becomes of sensitive data: refused, removed, masked, hashed, or put aside under a token."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable, Sequence
from typing import Literal, get_args

from ...state.errors import ConfigurationError
from ...state.guardrail_errors import PIIDetectionError
from .mask import mask
from .match import PIIMatch, replace_spans

RedactionStrategy = Literal["block", "redact", "mask", "hash", "token"]
"""``block`` ends the run, ``redact`` and ``mask`` cannot be undone, ``hash`` gives equal values
equal names, ``token`` is ``hash`` with the value kept aside to be put back."""

STRATEGIES: tuple[RedactionStrategy, ...] = get_args(RedactionStrategy)

_HASH_DIGITS = 8
_TOKEN_DIGITS = 12
_NOT_A_WORD = re.compile(r"[^A-Za-z0-9_]")

TOKEN = re.compile(r"<[A-Za-z0-9_]+:[0-9a-f]{12}>")
"""What tokens look like."""


def apply_strategy(
    text: str, matches: Sequence[PIIMatch], strategy: str, key: bytes | None = None
) -> str:
    """``text`` with its matches replaced.

    Args:
        text: The text that was searched.
        matches: What was found, in any order.
        strategy: What becomes of it.
        key: Secret of ``hash`` and ``token``; without one a hash is that of the bare value.

    Raises:
        PIIDetectionError: There are matches and the strategy is ``block``.
        ConfigurationError: There is no such strategy.
    """
    if not matches:
        return text
    if strategy == "block":
        raise PIIDetectionError(matches[0]["type"], matches)
    replace = _replacement(strategy, key)
    return replace_spans(text, sorted(matches, key=lambda m: m["start"]), replace)


def _replacement(strategy: str, key: bytes | None) -> Callable[[PIIMatch], str]:
    if strategy == "redact":
        return lambda match: f"[REDACTED_{match['type'].upper()}]"
    if strategy == "mask":
        return mask
    if strategy == "hash":
        return lambda m: f"<{m['type']}_hash:{_digest(m['value'], key)[:_HASH_DIGITS]}>"
    if strategy == "token":
        return lambda match: token_of(match, key or b"")
    msg = f"strategy is {strategy!r}; the strategies are {', '.join(STRATEGIES)}."
    raise ConfigurationError(msg)


def token_of(match: PIIMatch, key: bytes) -> str:
    """The token that stands for a value: the same one for the same value and key."""
    kind = _NOT_A_WORD.sub("_", match["type"])
    return f"<{kind}:{_digest(match['value'], key)[:_TOKEN_DIGITS]}>"


def _digest(value: str, key: bytes | None) -> str:
    data = value.encode("utf-8", "surrogatepass")
    if key is None:
        return hashlib.sha256(data).hexdigest()
    return hmac.digest(key, data, "sha256").hex()
