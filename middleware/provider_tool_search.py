"""Leaving it to the provider to find tools, instead of sending all of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from operator import is_
from typing import Any, Final, cast

from langchain_core.runnables.config import ensure_config
from langchain_core.tools import BaseTool

from ..state.errors import ConfigurationError
from .base import AgentMiddleware
from .flows import request_layer
from .request import ModelRequest
from .tool_filter import tool_names

SEARCH_TOOLS: Final[Mapping[str, Mapping[str, str]]] = {
    "anthropic": {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"},
    "openai": {"type": "tool_search"},
}
"""What asks a provider to search tools itself. Source: the providers' API references, 2026."""

_MAKERS = ((r"claude", "anthropic"), (r"gpt-|chatgpt|o[1-9]", "openai"))
_CLASSES = {
    "ChatAnthropic": "anthropic",
    "AnthropicChat": "anthropic",
    "ChatOpenAI": "openai",
    "OpenAIChat": "openai",
}
_DEFER = "defer_loading"


class ProviderToolSearchMiddleware(AgentMiddleware[Any, Any, Any]):
    """Marks tools as deferred and adds the provider's own tool search to a request.

    The provider then shows the model the full definition of a deferred tool only when a search
    finds it. Deferred are the tools named here and those with ``extras={"defer_loading": True}``.

    It does not cover: providers without a tool search (a request with deferred tools is then an
    error); models behind an address of one's own that only claim to be one of these; which tools
    the search finds. Nothing is kept from the provider, which is still sent every definition.
    """

    def __init__(self, *, searchable_tools: Sequence[str | BaseTool] | None = None) -> None:
        """Name the tools.

        Args:
            searchable_tools: Tools or their names.

        Raises:
            ConfigurationError: It is no list of tools.
        """
        self.searchable_tool_names = set(tool_names(searchable_tools, "searchable_tools") or ())
        self._plain: tuple[Any, ...] | None = None
        """The tools of the last request that had none to defer."""

    def _deferred(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        """Defer tools.

        Raises:
            ConfigurationError: A named tool is not there, or the provider has no tool search.
        """
        tools = request.tools
        if (
            self._plain is not None
            and len(tools) == len(self._plain)
            and all(map(is_, tools, self._plain))
        ):
            return request
        known = {tool.name for tool in tools if isinstance(tool, BaseTool)}
        if missing := sorted(self.searchable_tool_names - known):
            msg = (
                f"searchable_tools names tools that are not bound to the model: "
                f"{', '.join(missing)}; the tools of this request are {', '.join(sorted(known))}."
            )
            raise ConfigurationError(msg)
        if not any(map(self._is_deferred, tools)):
            self._plain = tuple(tools)
            return request
        provider = _provider(request.model, request.runtime)
        if provider is None or provider not in SEARCH_TOOLS:
            raise _no_search(request.model, provider)
        marked = [_marked(tool) if self._is_deferred(tool) else tool for tool in tools]
        return request.override(tools=[*marked, dict(SEARCH_TOOLS[provider])])

    wrap_model_call, awrap_model_call = request_layer(_deferred)

    def _is_deferred(self, tool: Any) -> bool:
        if not isinstance(tool, BaseTool):
            return False
        return tool.name in self.searchable_tool_names or (tool.extras or {}).get(_DEFER) is True


def _marked(tool: Any) -> BaseTool:
    return cast(
        "BaseTool", tool.model_copy(update={"extras": {**(tool.extras or {}), _DEFER: True}})
    )


def _no_search(model: Any, provider: str | None) -> ConfigurationError:
    known = ", ".join(sorted(SEARCH_TOOLS))
    if provider is None:
        what = f"could not determine the provider of {type(model).__name__!r}"
    else:
        what = f"finds no server-side tool search at provider {provider!r}"
    return ConfigurationError(
        f"ProviderToolSearchMiddleware {what}; server-side tool search is there for {known}. "
        "Use another model, or leave no tool deferred."
    )


def _provider(model: Any, runtime: Any) -> str | None:
    """The provider of a model: of its settings, as it traces itself, or by its class."""
    config = _config(runtime)
    if callable(choose := getattr(model, "model_for", None)):
        model = choose(config if config is not None else ensure_config())
    settings: dict[str, Any] = {}
    if isinstance(defaults := getattr(model, "_default_config", None), Mapping):
        settings |= cast("Mapping[str, Any]", defaults)
    if callable(chosen := getattr(model, "_model_params", None)):
        settings |= cast("Mapping[str, Any]", chosen(config))
    if found := _of_settings(settings):
        return found
    if callable(traced := getattr(model, "_get_ls_params", None)):
        name: Any = cast("Mapping[str, Any]", traced()).get("ls_provider")
        if isinstance(name, str):
            return _normal(name)
    return _CLASSES.get(type(model).__name__)


def _config(runtime: Any) -> Any:
    """The config that a configurable model is chosen by, where the runtime has one."""
    given = getattr(runtime, "config", None)
    return cast("Any", given) if isinstance(given, Mapping) else None


def _of_settings(settings: Mapping[str, Any]) -> str | None:
    if isinstance(provider := settings.get("model_provider"), str):
        return _normal(provider)
    if not isinstance(name := settings.get("model"), str):
        return None
    prefix, colon, _ = name.partition(":")
    if colon:
        return _normal(prefix)
    return next((maker for start, maker in _MAKERS if re.match(start, name)), None)


def _normal(provider: str) -> str:
    return provider.replace("-", "_").lower()
