"""Chat models by name: ``"provider:model"``."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from importlib.metadata import entry_points
from typing import Any, Final, Literal, cast, overload

from langchain_core.language_models import BaseChatModel

from ...state.errors import ConfigurationError, MissingExtraError
from .configurable import ConfigurableChatModel
from .integrations import integration_model, integration_names, is_installed, package_of
from .openai_compatible import OpenAICompatibleChatModel
from .providers import PROVIDERS

ENTRY_POINTS: Final = "interlock.chat_models"
"""Group of entry points by which a package offers providers: name -> ``f(model, **settings)``."""

_GUESSES: Final = (
    (r"gpt-|o[1-9]|chatgpt|text-davinci", "openai"),
    (r"claude", "anthropic"),
    (r"amazon\.|anthropic\.|meta\.", "bedrock"),
    (r"gemini", "google_vertexai"),
    (r"command", "cohere"),
    (r"accounts/fireworks", "fireworks"),
    (r"mistral|mixtral", "mistralai"),
    (r"deepseek", "deepseek"),
    (r"grok", "xai"),
    (r"sonar", "perplexity"),
    (r"solar", "upstage"),
)


@overload
def init_chat_model(
    model: str,
    *,
    model_provider: str | None = None,
    configurable_fields: None = None,
    config_prefix: str | None = None,
    **settings: Any,
) -> BaseChatModel: ...


@overload
def init_chat_model(
    model: str | None = None,
    *,
    model_provider: str | None = None,
    configurable_fields: Literal["any"] | Sequence[str] | None = None,
    config_prefix: str | None = None,
    **settings: Any,
) -> BaseChatModel | ConfigurableChatModel: ...


def init_chat_model(
    model: str | None = None,
    *,
    model_provider: str | None = None,
    configurable_fields: Literal["any"] | Sequence[str] | None = None,
    config_prefix: str | None = None,
    **settings: Any,
) -> BaseChatModel | ConfigurableChatModel:
    """Return the chat model a name means.

    A provider that a package offers by entry point comes first, then an installed LangChain
    integration, then interlock's own client for OpenAI-compatible providers.

    Args:
        model: ``"provider:model"``, or a model name whose maker is evident. Without it the name
            is chosen when the model is called.
        model_provider: The provider, where the name does not hold it.
        configurable_fields: Settings that ``config["configurable"]`` may change at run time, or
            ``"any"``. With ``"any"`` whoever writes the config also chooses address and key.
        config_prefix: What the keys in ``configurable`` begin with, before an underscore.
        **settings: Settings of the model, such as ``temperature`` or ``base_url``.

    Raises:
        ConfigurationError: No such provider, or nothing here that can talk to it.
    """
    if not model and not configurable_fields:
        configurable_fields = ("model", "model_provider")
    if configurable_fields:
        given = {"model": model, "model_provider": model_provider, **settings}
        return ConfigurableChatModel(
            build=chat_model,
            defaults={name: value for name, value in given.items() if value is not None},
            fields=configurable_fields,
            prefix=config_prefix or "",
        )
    if config_prefix:
        msg = (
            f"config_prefix is {config_prefix!r} but no fields are configurable. "
            "Name them in configurable_fields."
        )
        raise ConfigurationError(msg)
    return chat_model(model=model, model_provider=model_provider, **settings)


def chat_model(
    *, model: str | None = None, model_provider: str | None = None, **settings: Any
) -> BaseChatModel:
    """Return the chat model a name means, with all its settings fixed.

    Args:
        model: As in ``init_chat_model``; needed here.
        model_provider: As there.
        **settings: As there.

    Raises:
        ConfigurationError: No such provider, or nothing here that can talk to it.
    """
    provider, name = split_name(model, model_provider, has_address="base_url" in settings)
    offered = _offered(provider)
    if offered is not None:
        return offered(name, **settings)
    if provider == "embedded":
        return _embedded(name, settings)
    if is_installed(provider):
        return integration_model(provider, name, settings)
    if provider in PROVIDERS:
        return OpenAICompatibleChatModel(model=name, provider=provider, **settings)
    if provider in integration_names():
        msg = (
            f"Provider {provider!r} needs a package that is not installed. Install "
            f"{package_of(provider)!r}, or use an OpenAI-compatible address: pass base_url and "
            "model_provider='openai_compatible'."
        )
        raise MissingExtraError(msg, extra=package_of(provider))
    msg = (
        f"Unknown provider {provider!r}. Use one of {', '.join(known_providers())}; install "
        "a package that offers it; or pass base_url and model_provider='openai_compatible'."
    )
    raise ConfigurationError(msg)


def known_providers() -> list[str]:
    """Return every provider name that can be used, some after installing a package."""
    offered = entry_points(group=ENTRY_POINTS).names
    return sorted({"embedded", *PROVIDERS, *integration_names(), *offered})


def split_name(
    model: object, model_provider: str | None, *, has_address: bool = False
) -> tuple[str, str]:
    """Return provider and model name.

    Args:
        model: ``"provider:model"`` or a model's name, which may hold colons itself.
        model_provider: The provider, where it is given apart.
        has_address: A ``base_url`` is given, so an unknown provider is possible.

    Raises:
        ConfigurationError: There is no name, or no telling whose it is.
    """
    if not isinstance(model, str) or not model.strip():
        msg = (
            f"model is {model!r}. Pass a name like 'openai:gpt-5', or use a chat model object "
            "as it is."
        )
        raise ConfigurationError(msg)
    if model_provider:
        return _normal(model_provider), model
    prefix, colon, rest = model.partition(":")
    if colon and rest and _normal(prefix) in known_providers():
        return _normal(prefix), rest
    for pattern, provider in _GUESSES:
        if re.match(pattern, model, re.IGNORECASE):
            return provider, model
    if has_address:
        return "openai_compatible", model
    if colon and re.fullmatch(r"[\w.-]+", prefix):
        return _normal(prefix), rest
    msg = (
        f"No provider is known for model {model!r}. Write 'provider:model' with one of "
        f"{', '.join(known_providers())}."
    )
    raise ConfigurationError(msg)


def _normal(provider: str) -> str:
    return provider.strip().lower().replace("-", "_")


def _offered(provider: str) -> Callable[..., BaseChatModel] | None:
    for point in entry_points(group=ENTRY_POINTS, name=provider):
        return cast("Callable[..., BaseChatModel]", point.load())
    return None


def _embedded(name: str, settings: dict[str, Any]) -> BaseChatModel:
    # The embedded model pulls in its engine, so it is imported only when it is asked for.
    from .embedded import EmbeddedChatModel  # noqa: PLC0415

    return EmbeddedChatModel(model=name, **settings)
