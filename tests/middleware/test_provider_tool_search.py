from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.tools import BaseTool, tool

from interlock.graph import create_agent
from interlock.middleware import ModelRequest, ModelResponse, ProviderToolSearchMiddleware
from interlock.state.errors import ConfigurationError

Run = Callable[..., Awaitable[dict[str, Any]]]
Scripted = Callable[..., Any]


@tool(extras={"own": 1})
def weather(city: str) -> str:
    """Tell the weather."""
    return city


@tool(extras={"defer_loading": True})
def clock() -> str:
    """Tell the time."""
    return "now"


class ChatAnthropic:
    """Known by its name only."""


def _of_name(_config: Any) -> dict[str, str]:
    return {"model": "o3"}


def _of_config(_config: Any) -> Any:
    return _traced("openai")


def _traced(provider: str) -> Any:
    return SimpleNamespace(_get_ls_params=lambda: {"ls_provider": provider})


def _sent(model: Any, tools: list[Any], *names: str | BaseTool) -> ModelRequest[Any]:
    """The request as the next layer sees it."""
    seen: list[ModelRequest[Any]] = []

    def handler(request: ModelRequest[Any]) -> ModelResponse[Any]:
        seen.append(request)
        return ModelResponse([])

    middleware = ProviderToolSearchMiddleware(searchable_tools=names)
    middleware.wrap_model_call(ModelRequest(model=model, messages=[], tools=tools), handler)
    return seen[0]


@pytest.mark.parametrize(
    ("model", "search"),
    [
        (_traced("openai"), "tool_search"),
        (_traced("Anthropic"), "tool_search_tool_bm25_20251119"),
        (ChatAnthropic(), "tool_search_tool_bm25_20251119"),
        (SimpleNamespace(_default_config={"model": "openai:gpt-5"}), "tool_search"),
        (SimpleNamespace(_model_params=_of_name), "tool_search"),
        (SimpleNamespace(model_for=_of_config), "tool_search"),
    ],
)
def test_named_tool_is_deferred_and_the_providers_search_added(model: Any, search: str) -> None:
    sent = _sent(model, [weather, {"type": "web_search"}], "weather").tools
    deferred: Any = sent[0]
    assert deferred.extras == {"own": 1, "defer_loading": True}
    assert [t["type"] for t in sent[1:]] == ["web_search", search]  # type: ignore[index]
    assert weather.extras == {"own": 1}


def test_tool_that_is_marked_itself_is_deferred() -> None:
    assert len(_sent(_traced("openai"), [clock]).tools) == 2


def test_request_without_deferred_tools_passes_for_any_provider() -> None:
    assert _sent(_traced("mistral"), [weather]).tools == [weather]


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (_traced("mistral"), "at provider 'mistral'"),
        (SimpleNamespace(), "could not determine the provider of 'SimpleNamespace'"),
        (SimpleNamespace(_default_config={"model": "llama-4"}), "could not determine"),
    ],
)
def test_provider_without_a_search_is_an_error(model: Any, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        _sent(model, [clock])


def test_tool_that_is_not_there_is_named() -> None:
    with pytest.raises(ConfigurationError, match=r"not bound to the model: a, b; .* are weather"):
        _sent(_traced("openai"), [weather], "b", "a")


async def test_agent_without_deferred_tools_runs(run: Run, scripted: Scripted) -> None:
    model = scripted("done")
    agent = create_agent(model, [weather], middleware=[ProviderToolSearchMiddleware()])
    await run(agent, {"messages": "hi"})
    assert model.options[0]["tools"] == [weather]
