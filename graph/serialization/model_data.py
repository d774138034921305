"""Chat models as data: settings that do no harm, secrets by the name of their variable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from inspect import signature
from typing import Any, cast, get_type_hints

from ...state.errors import ConfigurationError
from ...state.suggestion import did_you_mean
from ..models.model_spec import ModelSpec
from ..models.providers import PROVIDERS
from ..models.registry import split_name
from .registry import Registry

MODEL_KEYS = frozenset({"model", "settings", "secrets"})

SETTINGS = frozenset(
    {
        *("earlier_turns", "frequency_penalty", "logprobs", "max_answer_bytes", "max_event_bytes"),
        *("max_completion_tokens", "max_input_tokens", "max_request_bytes", "max_retries"),
        *("max_retry_wait", "max_tokens", "max_tool_tokens", "max_tools", "max_workers"),
        *("min_confidence", "num_ctx", "num_predict", "presence_penalty", "reasoning_effort"),
        *("seed", "service_tier", "stop", "stream_usage", "streaming", "strict", "temperature"),
        *("timeout", "timeout_s", "top_k", "top_logprobs", "top_p", "total_timeout", "user"),
    }
)
"""Settings that any file may give: they shape and limit answers, and lead nowhere."""

OWN_PROVIDERS = frozenset({"embedded", *PROVIDERS}) - {"huggingface"}
"""Providers that any file may name: the embedded model, and those that interlock's own client talks
to. Hugging Face's is left out, since its LangChain integration downloads models and runs them."""

_MODEL_TYPES = ("BaseChatModel", "LanguageModel")


def write_model(spec: ModelSpec, registry: Registry, where: str) -> dict[str, Any]:
    """A described model as data; what is empty is left out.

    Raises:
        ConfigurationError: It could not be read back.
    """
    check_model(spec, registry, where)
    data: dict[str, Any] = {"model": spec.name}
    if spec.settings:
        data["settings"] = dict(spec.settings)
    if spec.secrets:
        data["secrets"] = dict(spec.secrets)
    return data


def read_model(data: Mapping[Any, Any], registry: Registry, where: str) -> ModelSpec:
    """The description of a model.

    Raises:
        ConfigurationError: It is not of this form, or asks for more than the registry allows.
    """
    unknown = [key for key in data if key not in MODEL_KEYS]
    if unknown:
        hint = did_you_mean(str(unknown[0]), MODEL_KEYS)
        msg = f"{where} has the key {unknown[0]!r}; a model has 'model', 'settings' and 'secrets'.{hint}"
        raise ConfigurationError(msg)
    settings, secrets = data.get("settings", {}), data.get("secrets", {})
    if not isinstance(data["model"], str) or not _is_flat(settings) or not _is_flat(secrets):
        msg = f"{where}: a model is a name with 'settings' and 'secrets', each a dict of values."
        raise ConfigurationError(msg)
    spec = ModelSpec(data["model"], settings, secrets)
    check_model(spec, registry, where)
    return spec


def check_model(spec: ModelSpec, registry: Registry, where: str) -> None:
    """Refuse providers and secrets that are not allowed, and settings that lead elsewhere.

    Raises:
        ConfigurationError: It names the setting, and what would allow it.
    """
    check_name(spec.name, registry, where, has_address="base_url" in spec.settings)
    for name, value in spec.settings.items():
        if name == "base_url":
            address = str(value).rstrip("/")
            if address not in registry.addresses:
                msg = (
                    f"{where} sends a model's requests to {address[:200]!r}; allow it with "
                    "Registry(addresses=[...]) if you know it."
                )
                raise ConfigurationError(msg)
        elif name not in SETTINGS:
            hint = did_you_mean(name, SETTINGS)
            msg = (
                f"{where} has the model setting {name!r}, which no file may give.{hint} Make the "
                "model in the program and register it under a name."
            )
            raise ConfigurationError(msg)
    for name, variable in spec.secrets.items():
        if variable not in registry.secrets:
            msg = (
                f"{where} reads the environment variable {variable!r} for {name!r}; allow it with "
                "Registry(secrets=[...]) if it is meant for this model."
            )
            raise ConfigurationError(msg)


def check_name(name: str, registry: Registry, where: str, *, has_address: bool = False) -> None:
    """Refuse a model of a provider that the program did not allow.

    Args:
        name: ``"provider:model"``, or a model name whose maker is evident.
        registry: What the program allows.
        where: Where the name stands, for the error.
        has_address: The model is given an address, so its provider may be left out.

    Raises:
        ConfigurationError: It is one, or there is no telling whose the model is.
    """
    provider, _ = split_name(name, None, has_address=has_address)
    allowed = OWN_PROVIDERS if registry.providers is None else registry.providers
    if provider not in allowed:
        msg = (
            f"{where} names a model of the provider {provider[:200]!r}; allow it with "
            "Registry(providers=[...]) if the integration installed for it may be loaded."
        )
        raise ConfigurationError(msg)


def check_names(
    kind: type[Any], arguments: Mapping[str, Any], registry: Registry, where: str
) -> None:
    """Refuse models of other providers among the arguments of a class that takes models by name.

    Raises:
        ConfigurationError: One is named where the class declares a chat model.
    """
    for argument, value in arguments.items():
        texts = list(_texts(value))
        if texts and _takes_models(kind, argument):
            for text in texts:
                check_name(text, registry, f"{where}.{argument}")


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in cast("list[Any]", value):
            yield from _texts(item)
    elif isinstance(value, Mapping):
        yield from _texts(list(cast("Mapping[Any, Any]", value).values()))


def _takes_models(kind: type[Any], argument: str) -> bool:
    """Whether a constructor declares that an argument may be a chat model."""
    parameter = signature(kind).parameters.get(argument)
    if parameter is None:
        return False
    try:
        hints = get_type_hints(cast("Any", kind).__init__)
    except (NameError, TypeError):
        hints = {}
    declared = str(hints.get(argument, parameter.annotation))
    return any(name in declared for name in _MODEL_TYPES)


def _is_flat(values: Any) -> bool:
    if not isinstance(values, Mapping):
        return False
    items = cast("Mapping[Any, Any]", values).items()
    return all(type(k) is str and _is_plain(v) for k, v in items)


def _is_plain(value: Any) -> bool:
    if type(value) is list:
        return all(type(v) in (bool, int, float, str) for v in cast("list[Any]", value))
    return value is None or type(value) in (bool, int, float, str)
