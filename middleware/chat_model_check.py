"""Refusing what is no chat model, where a middleware is given one."""

from __future__ import annotations

from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable

from ..state.errors import ConfigurationError


def checked_model(model: Any, setting: str) -> BaseChatModel:
    """A chat model, or a runnable around chat models that takes tools.

    Args:
        model: What the caller gave.
        setting: What the caller calls it, for the error.

    Raises:
        ConfigurationError: It is something else.
    """
    is_runnable = isinstance(model, Runnable)
    given: Any = model
    if isinstance(given, BaseChatModel):
        return given
    if is_runnable and hasattr(given, "bind_tools"):
        return given  # type: ignore[no-any-return] # it does what is asked of a chat model here
    msg = f"{setting} is {given!r:.100}; give a chat model or a 'provider:model' string."
    raise ConfigurationError(msg)
