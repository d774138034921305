"""Whether two names, given at different places, mean the same provider."""

from __future__ import annotations

from typing import Any

_ALIASES = {
    "amazon_bedrock": {"bedrock", "bedrock_converse"},
    "openai-mantle": {"openai"},
    "anthropic-mantle": {"anthropic"},
}
"""By the name that a model traces under, the names that its messages carry.

Source: LangChain 1.5.2.
"""


def provider_of(model: Any) -> str | None:
    """The name that a chat model traces under."""
    read: Any = getattr(model, "_get_ls_params", None)
    name: Any = read().get("ls_provider") if read is not None else None
    return name if isinstance(name, str) else None


def same_provider(in_message: str, of_model: str | None) -> bool:
    """Whether a message's ``model_provider`` is the provider that a model traces under."""
    return in_message == of_model or in_message in _ALIASES.get(of_model or "", ())
