from __future__ import annotations

from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel

from interlock.graph.structured_output import supports_provider_strategy


class NamedModel(GenericFakeChatModel):
    model_name: str


def model(name: str, told: bool | None = None) -> NamedModel:
    profile: Any = None if told is None else {"structured_output": told}
    return NamedModel(messages=iter([]), model_name=name, profile=profile)


@pytest.mark.parametrize(
    "name",
    ["gpt-4.1-mini", "gpt-5.5", "openai/gpt-5", "us.anthropic.claude-opus-4-6-v1:0", "grok-4.3"],
)
def test_known_model_answers_natively(name: str) -> None:
    assert supports_provider_strategy(name)
    assert supports_provider_strategy(model(name))


@pytest.mark.parametrize(
    "name",
    ["gpt-5.2-pro", "gpt-oss-120b", "claude-opus-4-1", "claude-opus-4-20250514", "my-gpt-5x", ""],
)
def test_other_model_does_not(name: str) -> None:
    assert not supports_provider_strategy(name)


def test_profile_decides_over_the_name() -> None:
    assert supports_provider_strategy(model("unheard-of", told=True))
    assert not supports_provider_strategy(model("gpt-5.5", told=False))


def test_old_gemini_takes_a_schema_or_tools_but_not_both() -> None:
    assert supports_provider_strategy(model("gemini-2.5-flash", told=True))
    assert not supports_provider_strategy(model("gemini-2.5-flash", told=True), tools=["t"])
    assert supports_provider_strategy(model("gemini-3-pro", told=True), tools=["t"])


def test_object_that_is_no_chat_model_is_not_known() -> None:
    stranger: Any = object()

    assert not supports_provider_strategy(stranger)
