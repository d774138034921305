"""What tests of redaction share: found values, rules, and a listener that hears everything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler

from interlock.middleware.redaction import BUILTIN_DETECTORS, RedactionRule, Redactor


@pytest.fixture
def found() -> Callable[[str, str], list[str]]:
    """``found("email", text)``: what the built-in detector finds, as written."""

    def values(kind: str, text: str) -> list[str]:
        return [match["value"] for match in BUILTIN_DETECTORS[kind](text)]

    return values


@pytest.fixture
def redactor() -> Callable[..., Redactor]:
    """``redactor("email", "mask")``: one that applies one rule."""

    def make(kind: str = "email", strategy: Any = "redact", **options: Any) -> Redactor:
        return Redactor([RedactionRule(kind, strategy, key="secret").resolve()], **options)

    return make


class Listener(BaseCallbackHandler):
    """Keeps everything that callbacks are told, as text."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("on_"):
            return super().__getattribute__(name)

        def hear(*args: Any, **kwargs: Any) -> None:
            self.heard.append(f"{name} {args!r} {kwargs!r}")

        return hear


@pytest.fixture
def listener() -> Listener:
    return Listener()
