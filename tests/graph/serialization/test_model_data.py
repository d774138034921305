"""Models of an agent that is written down: a name and settings, and never a key."""

from __future__ import annotations

import pytest

from interlock.graph import Agent
from interlock.graph.models import EmbeddedChatModel, ModelSpec
from interlock.graph.models.openai_compatible import OpenAICompatibleChatModel
from interlock.state import ConfigurationError


def test_a_shipped_model_is_written_as_its_name_and_settings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    model = OpenAICompatibleChatModel(model="gpt-5-mini", temperature=0)
    data = Agent(model=model).to_dict()
    assert data["agent"]["model"] == {"model": "openai:gpt-5-mini", "settings": {"temperature": 0}}
    assert Agent.from_dict(data).settings["model"] == ModelSpec(
        "openai:gpt-5-mini", {"temperature": 0}
    )


def test_the_embedded_model_is_written_as_its_name_and_settings() -> None:
    data = Agent(model=EmbeddedChatModel(min_confidence=0.5)).to_dict()
    assert data["agent"]["model"] == {
        "model": "embedded:needle3",
        "settings": {"min_confidence": 0.5},
    }


def test_a_key_is_never_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    agent = Agent(model=OpenAICompatibleChatModel(model="gpt-5-mini", api_key="s3cret"))
    with pytest.raises(ConfigurationError, match="secrets=") as caught:
        agent.to_dict()
    assert "s3cret" not in str(caught.value)
