"""Chat models: scripted, embedded and over HTTP."""

from __future__ import annotations

from .openai_compatible import OpenAICompatibleChatModel

__all__ = ["OpenAICompatibleChatModel"]
