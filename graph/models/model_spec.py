"""A chat model described by data: its name, its settings, and where its secrets are."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from langchain_core.language_models import BaseChatModel
from pydantic import SecretStr

from ...state.errors import ConfigurationError
from .providers import PROVIDERS
from .registry import init_chat_model


@dataclass(frozen=True)
class ModelSpec:
    """A chat model that is made when it is first needed; ``Agent`` takes it as ``model``.

    >>> ModelSpec("openai:gpt-5-mini", {"temperature": 0}, secrets={"api_key": "TEAM_KEY"}).name
    'openai:gpt-5-mini'
    """

    name: str
    """``"provider:model"``."""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Settings of the model that are no secrets."""
    secrets: Mapping[str, str] = field(default_factory=dict[str, str])
    """Settings whose values are in the environment: the names of the variables, by setting."""

    def build(self) -> BaseChatModel:
        """The chat model.

        Raises:
            ConfigurationError: The name means nothing here, a setting is wrong, or a variable is
                not set. The message never holds a secret.
        """
        found: dict[str, Any] = {}
        for setting, variable in self.secrets.items():
            value = os.environ.get(variable)
            if value is None:
                msg = f"Set the environment variable {variable}: the {setting} of {self.name!r}."
                raise ConfigurationError(msg)
            found[setting] = SecretStr(value)
        return cast("BaseChatModel", init_chat_model(self.name, **self.settings, **found))

    @classmethod
    def of(cls, model: Any) -> ModelSpec | None:
        """What describes a model of this library, or None for any other.

        Raises:
            ConfigurationError: It holds a secret that no environment variable is known for.
        """
        cls_of_model = type(cast("object", model))
        kind, module = cls_of_model.__name__, cls_of_model.__module__
        if module.startswith(f"{_PACKAGE}.embedded"):
            return cls(f"embedded:{model.model}", _settings(model))
        if not module.startswith(f"{_PACKAGE}.openai_compatible"):
            return None
        provider = PROVIDERS.get(model.provider)
        variable = None if provider is None else provider.key_variable
        key = None if model.api_key is None else model.api_key.get_secret_value()
        if key is not None and (variable is None or os.environ.get(variable) != key):
            msg = f"The key of this {kind} has no name; describe it with ModelSpec(secrets=...)."
            raise ConfigurationError(msg)
        hidden = any(isinstance(value, SecretStr) for value in model.default_query.values())
        if model.default_headers or model.proxy is not None or hidden:
            msg = (
                f"Headers, proxies and keys in the query of a {kind} are secrets; "
                "register the model by a name."
            )
            raise ConfigurationError(msg)
        return cls(f"{model.provider}:{model.model}", _settings(model))


_PACKAGE = __name__.rpartition(".")[0]
_NO_SETTINGS = frozenset({"api_key", "model", "profile", "provider"})


def _settings(model: Any) -> dict[str, Any]:
    """The settings that differ from what they would be anyway."""
    fields: Mapping[str, Any] = type(cast("BaseChatModel", model)).model_fields
    settings: dict[str, Any] = {
        name: getattr(model, name)
        for name in fields
        if name in model.model_fields_set
        and name not in _NO_SETTINGS
        and not fields[name].exclude
        and getattr(model, name) != fields[name].get_default(call_default_factory=True)
    }
    provider = PROVIDERS.get(getattr(model, "provider", ""))
    if provider is not None and settings.get("base_url") == provider.base_url:
        del settings["base_url"]
    return settings
