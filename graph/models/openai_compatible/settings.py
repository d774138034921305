"""Settings checked before anything is built; a refused key or header is never repeated."""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import urlsplit

import httpx
from pydantic import SecretStr

from ....state.errors import ConfigurationError
from ..providers import PROVIDERS, UNKNOWN, Provider
from .headers_and_query import checked_headers, checked_query

_NOT_IN_A_KEY: Final = re.compile(r"[^\x21-\x7e]")
_PROXY_SCHEMES: Final = ("http", "https", "socks5", "socks5h")
_LAST_PORT: Final = 65535
_LONGEST_S: Final = 10**8  # three years: sockets and sleeps take no larger number


def provider_named(name: object, base_url: object) -> Provider:
    """Return the provider a model's settings mean.

    Args:
        name: The ``provider`` setting, if any.
        base_url: The ``base_url`` setting, if any: alone it means an unknown provider.

    Raises:
        ConfigurationError: Nothing of that name is in the table.
    """
    if name is None:
        return PROVIDERS["openai"] if base_url is None else UNKNOWN
    found = PROVIDERS.get(name) if isinstance(name, str) else None
    if found is None:
        msg = (
            f"Unknown provider {name!r}. Use one of {', '.join(sorted(PROVIDERS))}, or give "
            "base_url without a provider."
        )
        raise ConfigurationError(msg)
    return found


def checked_base_url(base_url: object, provider: Provider) -> str:
    """Return the address requests go to, without a slash at its end.

    Args:
        base_url: The setting, or None to take the provider's.
        provider: Who is meant.

    Raises:
        ConfigurationError: There is no address, or it is not one that can be used safely.
    """
    if base_url is None:
        base_url = _default_base_url(provider)
    if not isinstance(base_url, str):
        msg = f"base_url is {type(base_url).__name__!r}, not text. Give a URL like https://host/v1."
        raise ConfigurationError(msg)
    try:
        parts = urlsplit(base_url)
        port = parts.port
    except ValueError:
        msg = "base_url is not a valid URL. Give one like https://host/v1."
        raise ConfigurationError(msg) from None
    if "@" in parts.netloc:
        msg = (
            "base_url holds credentials, which would show up in logs. "
            "Remove them and use api_key or default_headers."
        )
        raise ConfigurationError(msg)
    shown = base_url.partition("?")[0][:200]
    if parts.scheme not in ("http", "https"):
        msg = f"base_url {shown!r} has no http or https scheme. Write it like https://host/v1."
        raise ConfigurationError(msg)
    if not parts.hostname or (port is not None and not 0 < port <= _LAST_PORT):
        msg = f"base_url {shown!r} names no host. Write it like https://host/v1."
        raise ConfigurationError(msg)
    if parts.query or parts.fragment or "?" in base_url or "#" in base_url:
        msg = f"base_url {shown!r} has a query or fragment. Remove it and use default_query."
        raise ConfigurationError(msg)
    if not base_url.isprintable() or " " in base_url:
        msg = f"base_url {shown!r} has spaces or control characters. Remove them."
        raise ConfigurationError(msg)
    try:
        httpx.URL(base_url)
    except httpx.InvalidURL as exc:
        msg = f"base_url {shown!r} is not a valid URL: {exc}. Give one like https://host/v1."
        raise ConfigurationError(msg) from None
    return base_url.rstrip("/").removesuffix("/chat/completions")


def checked_key(api_key: object, provider: Provider) -> SecretStr | None:
    """Return the key, from the setting or from the provider's environment variable.

    Args:
        api_key: The setting: text, ``SecretStr`` or None.
        provider: Who is meant; its variable is read only for itself.

    Raises:
        ConfigurationError: The key is missing or cannot be a key. The message never holds it.
    """
    source = "api_key"
    if api_key is None:
        if provider.key_variable is None:
            return None
        source = provider.key_variable
        api_key = os.environ.get(provider.key_variable)
        if api_key is None:
            msg = (
                f"No key for {provider.name!r}. Set the environment variable "
                f"{provider.key_variable} or pass api_key."
            )
            raise ConfigurationError(msg)
    key = api_key.get_secret_value() if isinstance(api_key, SecretStr) else api_key
    if not isinstance(key, str):
        msg = f"{source} is {type(key).__name__!r}, not text. Pass the key."
        raise ConfigurationError(msg)
    if not key.strip():
        msg = f"{source} is empty. Pass a key, or None for a server without."
        raise ConfigurationError(msg)
    if _NOT_IN_A_KEY.search(key):
        msg = (
            f"{source} holds spaces, line breaks or characters beyond ASCII, so it cannot be a "
            "key. Check how it was read."
        )
        raise ConfigurationError(msg)
    return SecretStr(key)


def checked_proxy(proxy: object) -> SecretStr | None:
    """Return the proxy's address.

    Args:
        proxy: A URL, which may hold credentials, or None.

    Raises:
        ConfigurationError: It is no proxy's address, or httpx cannot use that kind. The message
            never holds it.
    """
    if proxy is None:
        return None
    url = proxy.get_secret_value() if isinstance(proxy, SecretStr) else proxy
    parts = None
    try:
        parts = urlsplit(url) if isinstance(url, str) else None
        usable = parts is not None and bool(parts.hostname) and parts.scheme in _PROXY_SCHEMES
        usable = usable and bool(httpx.URL(cast("str", url)).host) and cast("Any", parts).port != 0
    except (ValueError, httpx.InvalidURL):
        usable = False
    if not usable:
        msg = f"proxy is no address of a proxy. Give one like {'http://host:3128'!r}."
        raise ConfigurationError(msg)
    if parts is not None and parts.scheme.startswith("socks") and find_spec("socksio") is None:
        msg = "proxy is a SOCKS proxy, which needs the package socksio. Install it: pip install socksio"
        raise ConfigurationError(msg)
    return SecretStr(cast("str", url))


def checked_seconds(value: object, setting: str) -> float:
    """Return a time limit.

    Args:
        value: Seconds, more than zero.
        setting: Name of the setting, for errors.

    Raises:
        ConfigurationError: It is no positive number.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
        msg = f"{setting} is {value!r}. Pass seconds, more than zero."
        raise ConfigurationError(msg)
    return float(min(value, _LONGEST_S))


def checked_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a chat model with everything checked that could leak or mislead.

    Args:
        given: What the caller passed.

    Raises:
        ConfigurationError: A setting is wrong; the message names it.
    """
    settings = dict(given)
    if "model_name" in settings and "model" not in settings:
        settings["model"] = settings.pop("model_name")
    model = settings.get("model")
    if not isinstance(model, str) or not model.strip():
        msg = f"model is {model!r}. Pass the model's name."
        raise ConfigurationError(msg)
    provider = provider_named(settings.get("provider"), settings.get("base_url"))
    settings["provider"] = provider.name
    settings["base_url"] = checked_base_url(settings.get("base_url"), provider)
    settings["api_key"] = checked_key(settings.get("api_key"), provider)
    for name in ("timeout", "total_timeout", "max_retry_wait"):
        if settings.get(name) is None:
            settings.pop(name, None)
    for name, check in _CHECKS.items():
        if name in settings:
            settings[name] = check(settings[name])
    return settings


def checked_changes(changes: Mapping[str, Any], provider: Provider) -> dict[str, Any]:
    """Return settings for a copy of a chat model, checked as for a new one.

    Args:
        changes: What the caller passed.
        provider: Who is meant.

    Raises:
        ConfigurationError: A setting is wrong; the message names it.
    """
    checked = {
        name: _CHECKS[name](value) if name in _CHECKS else value for name, value in changes.items()
    }
    if checked.get("api_key") is not None:
        checked["api_key"] = checked_key(checked["api_key"], provider)
    if "base_url" in checked:
        checked["base_url"] = checked_base_url(checked["base_url"], provider)
    return checked


def _checked_file(path: object) -> object:
    if path is None:
        return None
    if not (isinstance(path, (str, Path)) and Path(path).is_file()):
        msg = f"ca_file {str(path)!r} is no file. Give a file of certificates."
        raise ConfigurationError(msg)
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(path)
    except (OSError, ValueError) as exc:  # ssl.SSLError is an OSError
        msg = f"ca_file {str(path)!r} cannot be used: {exc}. Give a file of PEM certificates."
        raise ConfigurationError(msg) from None
    return path


def _checked_retries(retries: object) -> int:
    if isinstance(retries, bool) or not isinstance(retries, int) or retries < 0:
        msg = f"max_retries is {retries!r}. Pass a whole number from 0."
        raise ConfigurationError(msg)
    return retries


_CHECKS: Final[Mapping[str, Callable[[object], object]]] = {
    "proxy": checked_proxy,
    "ca_file": _checked_file,
    "default_headers": checked_headers,
    "default_query": checked_query,
    "max_retries": _checked_retries,
    "timeout": partial(checked_seconds, setting="timeout"),
    "total_timeout": partial(checked_seconds, setting="total_timeout"),
    "max_retry_wait": partial(checked_seconds, setting="max_retry_wait"),
}
"""Settings that can be checked without knowing the others."""


def _default_base_url(provider: Provider) -> str:
    variable = provider.url_variable
    url = os.environ.get(variable) if variable else None
    if url:
        if "://" not in url:
            url = f"http://{url}"
        url = url.rstrip("/")
        return url if url.endswith(provider.url_suffix) else url + provider.url_suffix
    if provider.base_url is None:
        where = f"Set the environment variable {variable} or pass" if variable else "Pass"
        msg = f"No address for {provider.name!r}. {where} base_url."
        raise ConfigurationError(msg)
    return provider.base_url
