"""Chat models: scripted, embedded and over HTTP."""

from __future__ import annotations

from .embedded import EmbeddedChatModel
from .model_spec import ModelSpec
from .openai_compatible import OpenAICompatibleChatModel
from .recorded import recorded
from .registry import init_chat_model
from .scripted import ScriptedChatModel

__all__ = [
    "EmbeddedChatModel",
    "ModelSpec",
    "OpenAICompatibleChatModel",
    "ScriptedChatModel",
    "init_chat_model",
    "recorded",
]
