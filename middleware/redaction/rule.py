"""One kind of sensitive data, how it is found and what becomes of it."""

from __future__ import annotations

import secrets
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

from pydantic import SecretBytes, SecretStr

from ...state.errors import ConfigurationError
from .builtin import resolve_detector
from .match import Detector, PIIMatch
from .strategy import STRATEGIES, RedactionStrategy, apply_strategy, token_of

MAX_CHARS = 1_000_000
"""Longest text that a user's detector searches."""


@dataclass(frozen=True)
class RedactionRule:
    """What is looked for and what becomes of it, as a setting."""

    pii_type: str
    """A built-in kind of data, or a name of your own with a ``detector``."""
    strategy: RedactionStrategy = "redact"
    detector: Callable[[str], Any] | str | None = None
    """A function that returns matches, a regular expression, or None for the built-in one."""
    key: str | bytes | SecretStr | SecretBytes | None = None
    """Secret of the strategies ``hash`` and ``token``. Without it hashes can be guessed by
    trying likely values, and tokens change with each process."""
    max_chars: int = MAX_CHARS
    """Longest text that a detector of your own searches; a longer one is refused."""

    def resolve(self) -> ResolvedRedactionRule:
        """The rule, ready to be applied.

        Raises:
            ConfigurationError: The type, the strategy, the detector or a limit is wrong.
        """
        if self.strategy not in STRATEGIES:
            msg = f"strategy is {self.strategy!r}; the strategies are {', '.join(STRATEGIES)}."
            raise ConfigurationError(msg)
        if not self.pii_type:
            msg = "pii_type is empty; name the kind of data, such as 'email'."
            raise ConfigurationError(msg)
        if self.max_chars < 1:
            msg = f"max_chars is {self.max_chars!r}; it must be at least 1."
            raise ConfigurationError(msg)
        key = _key_bytes(self.key)
        if key is None and self.strategy == "token":
            key = secrets.token_bytes(32)
        return ResolvedRedactionRule(
            pii_type=self.pii_type,
            strategy=self.strategy,
            detector=resolve_detector(self.pii_type, self.detector, self.max_chars),
            key=key,
        )


@dataclass(frozen=True, eq=False)
class ResolvedRedactionRule:
    """A rule with its detector."""

    pii_type: str
    strategy: RedactionStrategy
    detector: Detector
    key: bytes | None = None

    def __repr__(self) -> str:
        return f"ResolvedRedactionRule({self.pii_type!r}, {self.strategy!r})"

    def apply(self, content: str) -> tuple[str, list[PIIMatch]]:
        """The text with what was found in it replaced, and what was found.

        Raises:
            PIIDetectionError: Something was found and the strategy is ``block``.
            DetectorError: The detector failed.
        """
        matches = self.detector(content)
        return apply_strategy(content, matches, self.strategy, self.key), matches

    def redact(self, text: str, vault: MutableMapping[str, str] | None = None) -> str:
        """The text with what was found in it replaced.

        Args:
            text: The text.
            vault: With the strategy ``token``, takes the replaced values by token.
        """
        new, matches = self.apply(text)
        if matches and vault is not None and self.strategy == "token":
            vault.update({token_of(m, self.key or b""): m["value"] for m in matches})
        return new


def _key_bytes(key: str | bytes | SecretStr | SecretBytes | None) -> bytes | None:
    plain = key.get_secret_value() if isinstance(key, (SecretStr, SecretBytes)) else key
    if plain is None:
        return None
    if not plain:
        msg = "key is empty; give a secret, or leave it out."
        raise ConfigurationError(msg)
    return plain.encode() if isinstance(plain, str) else plain
