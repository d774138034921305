from __future__ import annotations

import sys
from importlib.metadata import EntryPoint, EntryPoints
from types import ModuleType
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.runnables import RunnableConfig
from pydantic import Field

from interlock.graph.models import (
    OpenAICompatibleChatModel,
    init_chat_model,
    integrations,
    registry,
)
from interlock.graph.models.configurable import ConfigurableChatModel
from interlock.graph.models.registry import split_name
from interlock.state.errors import ConfigurationError

Net = Any  # the loopback network of conftest.py
KEY = "sk-0123456789"


@pytest.fixture(autouse=True)
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(integrations, "find_spec", dict[str, str]().get)


def ours(name: str, **settings: Any) -> OpenAICompatibleChatModel:
    model = init_chat_model(name, api_key=KEY, **settings)
    assert isinstance(model, OpenAICompatibleChatModel)
    return model


@pytest.mark.parametrize(
    ("name", "provider", "model"),
    [
        ("openai:gpt-5", "openai", "gpt-5"),
        ("gpt-5", "openai", "gpt-5"),
        ("Mistral:mistral-large", "mistralai", "mistral-large"),
        ("azure-openai:gpt-5", "azure_openai", "gpt-5"),
        ("ollama:qwen3:8b", "ollama", "qwen3:8b"),
        ("openrouter:meta/llama:free", "openrouter", "meta/llama:free"),
        ("grok-4", "xai", "grok-4"),
    ],
)
def test_name_finds_provider_and_model(
    monkeypatch: pytest.MonkeyPatch, name: str, provider: str, model: str
) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://me.openai.azure.com")
    found = ours(name)

    assert (found.provider, found.model) == (provider, model)


def test_any_address_can_be_used() -> None:
    found = ours("my-model:7b", base_url="http://127.0.0.1:1/v1", temperature=0.5)

    assert (found.model, found.base_url, found.temperature) == (
        "my-model:7b",
        "http://127.0.0.1:1/v1",
        0.5,
    )


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("anthropic:claude-x", "'langchain-anthropic', or use an OpenAI-compatible address"),
        ("claude-x", "'langchain-anthropic'"),
        ("nobody:model", "Unknown provider 'nobody'.*openai"),
        ("my-model", "No provider is known for model 'my-model'"),
        ("", "model is ''"),
        (7, "model is 7"),
    ],
    ids=str,
)
def test_name_that_leads_nowhere_says_what_would(name: Any, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        registry.chat_model(model=name)


class ChatOpenAI(FakeListChatModel):
    model: str
    responses: list[str] = Field(default=["integration"])


@pytest.mark.parametrize(
    ("module", "name"), [("langchain_openai", "openai:m"), ("langchain_other", "other:m")]
)
def test_installed_integration_comes_first(
    monkeypatch: pytest.MonkeyPatch, module: str, name: str
) -> None:
    package = ModuleType(module)
    package.__dict__["ChatOpenAI"] = ChatOpenAI
    monkeypatch.setitem(sys.modules, module, package)
    monkeypatch.setattr(integrations, "find_spec", {module: package}.get)

    assert init_chat_model(name).invoke("hi").content == "integration"


def offered(model: str, **settings: Any) -> BaseChatModel:
    return FakeListChatModel(responses=[f"{model} {settings}"])


def test_entry_point_comes_before_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    def entry_points(**asked: Any) -> EntryPoints:
        point = EntryPoint("openai", "nowhere:offered", registry.ENTRY_POINTS)
        return EntryPoints([point]).select(**asked)

    def load(_: EntryPoint) -> Any:
        return offered

    monkeypatch.setattr(EntryPoint, "load", load)
    monkeypatch.setattr(registry, "entry_points", entry_points)

    assert init_chat_model("openai:m", a=1).invoke("hi").content == "m {'a': 1}"
    assert split_name("openai:m", None) == ("openai", "m")


def test_model_can_be_chosen_at_run_time(net: Net) -> None:
    server = net.provider(net.whole(net.completion()))
    model = init_chat_model(api_key=KEY, base_url=server.url)
    config: RunnableConfig = {"configurable": {"model": "openai:chosen", "temperature": 1}}

    assert isinstance(model, ConfigurableChatModel)
    assert model.invoke("hi", config).content == "hello"
    assert server.seen[0].body["model"] == "chosen"
    assert "temperature" not in server.seen[0].body


async def test_any_setting_can_be_chosen_under_a_prefix(net: Net) -> None:
    server = net.provider(net.whole(net.completion()))
    model = init_chat_model(
        "openai:m",
        configurable_fields="any",
        config_prefix="first",
        api_key=KEY,
        base_url=server.url,
    )
    await model.ainvoke("hi", {"configurable": {"first_temperature": 0.5, "temperature": 9}})

    assert server.seen[0].body["temperature"] == 0.5


def test_tools_are_bound_once_the_model_is_known(net: Net) -> None:
    server = net.provider(net.streamed({"content": "hi"}, "stop"))
    model = init_chat_model(configurable_fields=["model"], api_key=KEY, base_url=server.url)
    assert isinstance(model, ConfigurableChatModel)
    tool: dict[str, Any] = {"type": "function", "function": {"name": "add", "parameters": {}}}
    bound = model.bind_tools([tool], tool_choice="any").with_config(
        configurable={"model": "openai:m"}
    )

    assert next(bound.stream("hi")).content == "hi"
    assert server.seen[0].body["tool_choice"] == "required"


def test_default_model_answers_for_the_configurable_one() -> None:
    model = init_chat_model("openai:gpt-5", configurable_fields=["temperature"], api_key=KEY)

    assert model.profile == ours("openai:gpt-5").profile
    with pytest.raises(AttributeError):
        _ = init_chat_model().profile


def test_prefix_without_fields_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="no fields are configurable"):
        init_chat_model("openai:m", config_prefix="x")
