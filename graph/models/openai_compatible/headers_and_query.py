"""Headers and query parameters of a user, checked; a refused value is never repeated."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final, cast

from pydantic import SecretStr
from typing_extensions import TypeIs

from ....state.errors import ConfigurationError
from .hidden import is_secret_name
from .surrogates import mended

_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_NOT_IN_A_VALUE: Final = re.compile(r"[^\t\x20-\x7e]")


def checked_headers(headers: object, setting: str = "default_headers") -> dict[str, SecretStr]:
    """Return headers with their values hidden.

    Args:
        headers: Names and values.
        setting: Name of the setting, for errors.

    Raises:
        ConfigurationError: A name or value cannot be sent. The message never holds the value.
    """
    checked: dict[str, SecretStr] = {}
    for name, value in _entries(headers, setting):
        if not isinstance(name, str) or not _HEADER_NAME.fullmatch(name):
            msg = f"{setting} has the invalid header name {name!r}. Rename it."
            raise ConfigurationError(msg)
        text = value.get_secret_value() if isinstance(value, SecretStr) else value
        if not isinstance(text, str) or _NOT_IN_A_VALUE.search(text):
            msg = (
                f"{setting}[{name!r}] is not text, or has line breaks or characters a header "
                "cannot carry. Remove them."
            )
            raise ConfigurationError(msg)
        checked[name] = SecretStr(text)
    return checked


def checked_query(query: object, setting: str = "default_query") -> dict[str, str | SecretStr]:
    """Return query parameters, with values hidden where the name says that they are secrets.

    Args:
        query: Names and values.
        setting: Name of the setting, for errors.

    Raises:
        ConfigurationError: A name or value is no text. The message never holds the value.
    """
    checked: dict[str, str | SecretStr] = {}
    for name, value in _entries(query, setting):
        text = value.get_secret_value() if isinstance(value, SecretStr) else value
        if not _is_text(name) or not _is_text(text):
            kind = type(value).__name__
            msg = f"{setting}[{name!r}] is {kind!r}, or no valid Unicode. Pass text."
            raise ConfigurationError(msg)
        secret = isinstance(value, SecretStr) or is_secret_name(name)
        checked[name] = SecretStr(text) if secret else text
    return checked


def _entries(given: object, setting: str) -> Iterable[tuple[object, object]]:
    if given is None:
        return ()
    if not isinstance(given, Mapping):
        msg = f"{setting} is {type(given).__name__!r}. Pass a dict."
        raise ConfigurationError(msg)
    return cast("Mapping[object, object]", given).items()


def _is_text(value: object) -> TypeIs[str]:
    return isinstance(value, str) and mended(value) == value
