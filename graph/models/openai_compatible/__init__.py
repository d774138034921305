"""A strict chat model for every OpenAI-compatible endpoint, over httpx."""

from __future__ import annotations

from .model import OpenAICompatibleChatModel

__all__ = ["OpenAICompatibleChatModel"]
