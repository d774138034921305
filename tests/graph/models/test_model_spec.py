"""A chat model described by data."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.graph import Agent
from interlock.graph.models import EmbeddedChatModel, ModelSpec, ScriptedChatModel
from interlock.graph.models.openai_compatible import OpenAICompatibleChatModel
from interlock.state import ConfigurationError


def test_a_described_model_is_made_with_its_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEAM_KEY", "s3cret")
    spec = ModelSpec("openai:gpt-5-mini", {"temperature": 0.5}, {"api_key": "TEAM_KEY"})
    model: Any = spec.build()
    assert (model.model, model.temperature) == ("gpt-5-mini", 0.5)
    assert model.api_key.get_secret_value() == "s3cret"
    assert "s3cret" not in repr(spec)


def test_a_missing_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TEAM_KEY", raising=False)
    with pytest.raises(ConfigurationError, match="TEAM_KEY: the api_key of 'openai:gpt-5-mini'"):
        ModelSpec("openai:gpt-5-mini", secrets={"api_key": "TEAM_KEY"}).build()


def test_an_agent_makes_a_described_model_when_it_is_needed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("TEAM_KEY", raising=False)
    agent = Agent(model=ModelSpec("openai:gpt-5-mini", secrets={"api_key": "TEAM_KEY"}))
    monkeypatch.setenv("TEAM_KEY", "s3cret")
    assert agent.compile()


def test_a_model_of_this_library_can_be_described(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", "k")
    model = OpenAICompatibleChatModel(model="m", provider="groq", max_tokens=9)
    assert ModelSpec.of(model) == ModelSpec("groq:m", {"max_tokens": 9})
    assert ModelSpec.of(EmbeddedChatModel()) == ModelSpec("embedded:needle3")


def test_any_other_model_cannot() -> None:
    assert ModelSpec.of(ScriptedChatModel([])) is None


@pytest.mark.parametrize(
    "extra",
    [
        {"default_headers": {"x-key": "s3cret"}},
        {"default_query": {"api-key": "s3cret"}},
        {"proxy": "http://u:s3cret@h:1"},
    ],
)
def test_what_is_secret_is_not_described(
    monkeypatch: pytest.MonkeyPatch, extra: dict[str, Any]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with pytest.raises(ConfigurationError, match="secrets") as caught:
        ModelSpec.of(OpenAICompatibleChatModel(model="m", **extra))
    assert "s3cret" not in str(caught.value)
