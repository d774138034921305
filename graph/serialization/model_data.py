"""Chat models as data: settings that do no harm, secrets by the name of their variable."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from ...state.errors import ConfigurationError
from ...state.suggestion import did_you_mean
from ..models.model_spec import ModelSpec
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
    """Refuse settings that would lead a model elsewhere, and secrets that are not its own.

    Raises:
        ConfigurationError: It names the setting, and what would allow it.
    """
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


def _is_flat(values: Any) -> bool:
    if not isinstance(values, Mapping):
        return False
    items = cast("Mapping[Any, Any]", values).items()
    return all(type(k) is str and _is_plain(v) for k, v in items)


def _is_plain(value: Any) -> bool:
    if type(value) is list:
        return all(type(v) in (bool, int, float, str) for v in cast("list[Any]", value))
    return value is None or type(value) in (bool, int, float, str)
