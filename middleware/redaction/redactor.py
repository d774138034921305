"""Several rules applied together, to texts, messages and streams of text."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, MutableMapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from langchain_core.messages import BaseMessage

from .keys import MEDIA_KEYS
from .lookback import LOOKBACK, Lookback
from .match import Span
from .reply_stream import ReplyStream
from .rule import ResolvedRedactionRule
from .surfaces import change_message, keep_text

MessageT = TypeVar("MessageT", bound=BaseMessage)

FOUND: ContextVar[MutableMapping[str, str] | None] = ContextVar("interlock_found", default=None)
"""Takes the values that are put aside while a model answers."""

_REMEMBERED = 8_192
_LONGEST_KEY = 64


@dataclass(frozen=True, eq=False)
class Redactor:
    """Applies rules one after the other. Holds nothing of a run."""

    rules: Sequence[ResolvedRedactionRule]
    text: bool = True
    """What is said is covered."""
    calls: bool = True
    """Arguments of tool calls are covered."""
    lookback: int = LOOKBACK
    """Characters of a text in pieces that are held back."""
    _clean: dict[bytes | str, None] = field(default_factory=dict[bytes | str, None])
    """Texts in which nothing was found, the oldest first; of long ones, their digests."""

    def __repr__(self) -> str:
        return f"Redactor({', '.join(f'{rule.pii_type}:{rule.strategy}' for rule in self.rules)})"

    @property
    def kept_keys(self) -> frozenset[str]:
        """Keys of content blocks that are left alone: where a picture is stays, so it loads."""
        return self._kept_keys

    @cached_property
    def _kept_keys(self) -> frozenset[str]:
        return MEDIA_KEYS if any(rule.pii_type == "url" for rule in self.rules) else frozenset()

    def redact(self, text: str) -> str:
        """A text with everything sensitive replaced.

        Raises:
            PIIDetectionError: A rule blocks what was found.
            DetectorError: A detector failed.
        """
        if not text:
            return text
        key: bytes | str = text
        if len(text) > _LONGEST_KEY:
            key = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if key in self._clean:
            return text
        new = self._redact(text)
        if new == text:
            self._clean[key] = None
            while len(self._clean) > _REMEMBERED:
                self._clean.pop(next(iter(self._clean)), None)
        return new

    def _redact(self, text: str) -> str:
        for rule in self.rules:
            text = rule.redact(text, FOUND.get())
        return text

    def spans(self, text: str) -> Iterator[Span]:
        """Where something sensitive is."""
        for rule in self.rules:
            for match in rule.detector(text):
                yield match["start"], match["end"]

    def buffer(self) -> Lookback:
        """A buffer for text that arrives in pieces."""
        return Lookback(self.spans, self.redact, self.lookback)

    def pieces(self) -> ReplyStream:
        """Redacts the next reply of a model, in pieces."""
        return ReplyStream(self)

    def message(self, message: MessageT) -> MessageT:
        """A message with everything sensitive replaced; the same object if there is nothing."""
        return change_message(
            message,
            self.redact if self.text else None,
            self.redact if self.calls else keep_text,
            kept=self.kept_keys,
        )
