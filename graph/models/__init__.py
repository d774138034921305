"""Chat models: scripted, embedded and over HTTP."""

from __future__ import annotations

__all__: list[str] = []
