"""Whose models a stored agent may name."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel

from interlock.graph import Agent
from interlock.graph.models import ModelSpec, ScriptedChatModel
from interlock.graph.serialization import Registry
from interlock.middleware import AgentMiddleware, LLMToolEmulator
from interlock.state import ConfigurationError

INTEGRATION = """
from interlock.graph.models import ScriptedChatModel

class ChatStranger(ScriptedChatModel):
    def __init__(self, model):
        super().__init__([model])
"""
NAMED = {"registered": "model"}
MODEL = ScriptedChatModel([])


class Judging(AgentMiddleware):
    """A class of the program that takes a model by its name."""

    def __init__(self, judges: list[str | BaseChatModel]) -> None:
        self.judges = judges


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The module of an installed integration that is not loaded yet."""
    (tmp_path / "langchain_stranger.py").write_text(INTEGRATION, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    monkeypatch.delitem(sys.modules, "langchain_stranger", raising=False)
    return "langchain_stranger"


def stored(**settings: Any) -> dict[str, Any]:
    return {"interlock": 1, "agent": {"model": NAMED, **settings}}


PLACES: list[dict[str, Any]] = [
    {"model": "stranger:x"},
    {"model": "Stranger:x"},
    {"model": {"model": "stranger:x"}},
    {"middleware": [{"class": "LLMToolEmulator", "model": "stranger:x"}]},
    {"middleware": [{"class": "LLMToolSelectorMiddleware", "model": {"model": "stranger:x"}}]},
    {
        "middleware": [
            {
                "class": "ModelFallbackMiddleware",
                "first_model": NAMED,
                "additional_models": ["openai:x", "stranger:x"],
            }
        ]
    },
    {
        "middleware": [
            {"class": "SummarizationMiddleware", "model": NAMED, "summarizer": "stranger:x"}
        ]
    },
    {"name": {"class": "ModelChoice", "model": "stranger:x", "criteria": "all"}},
    {"middleware": [{"class": "Judging", "judges": ["stranger:x"]}]},
]


@pytest.mark.parametrize("place", PLACES, ids=range(len(PLACES)))
def test_a_model_of_a_provider_that_was_not_allowed_loads_nothing(
    place: dict[str, Any], stranger: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with pytest.raises(ConfigurationError, match=r"'stranger'.*Registry\(providers="):
        Agent.from_dict(stored(**place), Registry(Judging, model=MODEL)).compile()
    assert stranger not in sys.modules


def test_a_model_of_an_allowed_provider_answers(stranger: str) -> None:
    agent = Agent.from_dict(stored(model="stranger:Hello"), Registry(providers=["stranger"]))
    assert agent.run("Hi")["last_message"].text == "Hello"
    assert stranger in sys.modules


@pytest.mark.parametrize("name", ["embedded:needle3", "openai:gpt-5-mini", "gpt-5", "ollama:qwen3"])
def test_what_interlock_talks_to_itself_needs_no_list(name: str) -> None:
    assert Agent.from_dict(stored(model=name)).settings["model"] == name


@pytest.mark.parametrize("name", ["huggingface:a/b", "anthropic:claude-x", "claude-x"])
def test_an_integration_that_is_not_listed_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match="providers="):
        Agent.from_dict(stored(model=name))


def test_a_list_allows_what_is_in_it_and_nothing_else() -> None:
    registry = Registry(providers=["anthropic"])
    Agent.from_dict(stored(model="claude-x"), registry)
    with pytest.raises(ConfigurationError, match="'openai'"):
        Agent.from_dict(stored(model="openai:gpt-5-mini"), registry)


def test_an_address_that_is_allowed_needs_no_provider() -> None:
    settings = {"base_url": "https://models.example/v1"}
    model = {"model": "mine", "settings": settings}
    registry = Registry(addresses=["https://models.example/v1"])
    assert Agent.from_dict(stored(model=model), registry).settings["model"] == ModelSpec(
        "mine", settings
    )


def test_lists_of_two_registries_become_one() -> None:
    registry = Registry(providers=["anthropic"])
    registry.include(Registry())
    registry.include(Registry(providers=["cohere"]))
    assert sorted(registry.providers or ()) == ["anthropic", "cohere"]


def test_an_agent_that_could_not_be_read_back_is_not_written(stranger: str) -> None:
    emulator = LLMToolEmulator(model="stranger:x")
    for agent in (
        Agent(model=f"{stranger.removeprefix('langchain_')}:x"),
        Agent(model=MODEL, middleware=[emulator]),
    ):
        with pytest.raises(ConfigurationError, match="providers="):
            agent.to_dict(Registry(model=MODEL))
        agent.to_dict(Registry(model=MODEL, providers=["stranger"]))
