"""What guards: the hook contract, composition and one file per guardrail."""

from __future__ import annotations

__all__: list[str] = []
