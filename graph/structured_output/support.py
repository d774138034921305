"""Whether a model gives structured answers natively, by its provider's own means."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel

_NAMES = re.compile(
    r"""
    (?:^|[/:.])                             # after a provider's or a region's prefix
    (?:
        gpt-4\.1 | gpt-4o | gpt-5(?:\.\d+)? | gpt-6-(?:astra|luna|sol)
      | claude-(?:haiku|opus|sonnet)-4-[5-9](?!\d)
      | claude-(?:fable|mythos)-5(?!\d)
      | grok-4 | grok-build
    )
    (?=$|[-.:/@])
    """,
    re.VERBOSE,
)
_NOT_THESE = re.compile(
    r"gpt-5\.[24]-pro | gpt-4o-2024-05-13 | -(?:audio|realtime|transcribe|tts)(?:-|$)", re.VERBOSE
)


def supports_provider_strategy(
    model: str | BaseChatModel, tools: Sequence[Any] | None = None
) -> bool:
    """Tell whether a model takes a schema for its answer, beside the given tools.

    The model's own profile decides where it has one; else its name is looked at. Gemini models
    before the third series take a schema or tools, not both.

    Args:
        model: The model, or only its name.
        tools: The tools that the model is offered in the same request.

    Source: models.dev, field ``structured_output``, and the providers' documentation, 2026.
    """
    name = _model_name(model).lower()
    profile = model.profile if isinstance(model, BaseChatModel) else None
    told = profile.get("structured_output") if profile else None
    if told:
        return not (tools and "gemini" in name and "gemini-3" not in name)
    if told is False:
        return False
    return _NAMES.search(name) is not None and _NOT_THESE.search(name) is None


def _model_name(model: str | BaseChatModel) -> str:
    if isinstance(model, str):
        return model
    for attribute in ("model_name", "model", "model_id"):
        value = getattr(model, attribute, None)
        if isinstance(value, str) and value:
            return value
    return ""
