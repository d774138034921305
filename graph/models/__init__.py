"""Chat models: scripted, embedded and over HTTP."""

from __future__ import annotations

from .openai_compatible import OpenAICompatibleChatModel
from .recorded import recorded
from .registry import init_chat_model

__all__ = ["OpenAICompatibleChatModel", "init_chat_model", "recorded"]
