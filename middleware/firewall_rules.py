"""Conditions on the arguments of a tool call, as data: each is checked and says what it wants."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from fnmatch import fnmatchcase
from ipaddress import ip_address
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any, Literal, cast
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from ..state.errors import ConfigurationError
from .redaction.backtracking import check_match

_LONGEST_MATCHED = 4_096
_MOST_DECODINGS = 5
_SEPARATORS = re.compile(r"[\\/]+")
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_DNS_NAME = re.compile(rf"(?:{_LABEL}\.)*+(?!\d+\Z|0x)(?:{_LABEL})")
"""A host name; a last part that is a number makes it an address in some notation."""
_LONGEST_HOST = 253


class Condition(BaseModel):
    """What an argument must be; everything that is given must hold."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    type: Literal["string", "integer", "number", "boolean", "array", "object", "null"] | None = None
    """The JSON type."""
    one_of: tuple[Any, ...] | None = None
    """The allowed values."""
    matches: str | None = None
    """A regular expression for the whole text."""
    under: tuple[str, ...] | None = None
    """Absolute folders; the argument is a path inside one of them, however often a tool may decode
    ``%2e``, links not followed."""
    hosts: tuple[str, ...] | None = None
    """Host names, ``*.example.com`` for those below; the argument is a URL or a host, with a valid
    DNS name or an address that is listed as it is."""
    schemes: tuple[str, ...] = ("https",)
    """Schemes of a URL, with ``hosts``."""
    ports: tuple[int, ...] | None = None
    """Ports of a URL, with ``hosts``; by default the scheme's own."""
    min: Decimal | None = None
    max: Decimal | None = None
    """Smallest and largest number; numbers written as text count."""
    max_length: int | None = Field(default=None, ge=0)
    """Most characters or items."""
    each: Condition | None = None
    """What every item of a list must be."""

    @field_validator("matches")
    @classmethod
    def _check_pattern(cls, pattern: str | None) -> str | None:
        if pattern is not None:
            check_match(pattern, _LONGEST_MATCHED)
        return pattern

    @field_validator("under")
    @classmethod
    def _check_folders(cls, folders: tuple[str, ...] | None) -> tuple[str, ...] | None:
        for folder in folders or ():
            if not PurePosixPath(folder).is_absolute() or ".." in _SEPARATORS.split(folder):
                msg = f"folder {folder!r} is not an absolute path without '..'"
                raise ValueError(msg)
        return folders

    def fault(self, value: Any) -> str | None:
        """Why a value is not allowed, without repeating it; None if it is."""
        for name, check in _CHECKS.items():
            wanted = getattr(self, name)
            if wanted is not None and (fault := check(self, value)) is not None:
                return fault
        return None


def read_condition(tool: str, argument: str, given: Any) -> Condition:
    """A condition in one of its notations.

    Args:
        tool: Name of the tool, for errors.
        argument: Name of the argument, for errors.
        given: A ``Condition``, a dict of its fields, a list of the allowed values, or
            ``"any"``.

    Raises:
        ConfigurationError: It is none of these, or a field is wrong.
    """
    if isinstance(given, Condition):
        return given
    if given == "any":
        return Condition()
    if isinstance(given, (list, tuple)):
        return Condition(one_of=tuple(cast("Sequence[Any]", given)))
    if not isinstance(given, Mapping):
        msg = (
            f"The rule for {tool!r}, argument {argument!r}, is {given!r}; give a dict such as "
            "{'max': 100}, a list of the allowed values, or 'any'."
        )
        raise ConfigurationError(msg)
    try:
        return Condition.model_validate(dict(cast("Mapping[str, Any]", given)))
    except ConfigurationError as error:
        msg = f"The rule for {tool!r}, argument {argument!r}: {error}"
        raise ConfigurationError(msg) from error
    except ValidationError as error:
        details = "; ".join(
            f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors(include_url=False)
        )
        msg = f"The rule for {tool!r}, argument {argument!r}, is not valid: {details}."
        raise ConfigurationError(msg) from error


_TYPES: Mapping[str, Callable[[Any], bool]] = {
    "string": lambda v: isinstance(v, str),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    "boolean": lambda v: isinstance(v, bool),
    "array": lambda v: isinstance(v, list),
    "object": lambda v: isinstance(v, dict),
    "null": lambda v: v is None,
}


def _type(rule: Condition, value: Any) -> str | None:
    return None if _TYPES[str(rule.type)](value) else f"it must be of type {rule.type}"


def _one_of(rule: Condition, value: Any) -> str | None:
    # True == 1 in Python, not in JSON.
    allowed = rule.one_of or ()
    if any(type(value) is type(item) and value == item for item in allowed):
        return None
    return f"it must be one of {', '.join(map(repr, allowed))}"


def _matches(rule: Condition, value: Any) -> str | None:
    fits = (
        isinstance(value, str)
        and len(value) <= _LONGEST_MATCHED
        and re.fullmatch(str(rule.matches), value)
    )
    return None if fits else f"it must match {rule.matches!r}"


def _under(rule: Condition, value: Any) -> str | None:
    fault = f"it must be a path under {', '.join(rule.under or ())}"
    if not isinstance(value, str) or "\0" in value or value.startswith("~"):
        return fault
    decoded = _decoded(value)
    if decoded is None or "\0" in decoded or ".." in _SEPARATORS.split(decoded):
        return fault
    if "\\" in value or PureWindowsPath(value).drive or not value.startswith("/"):
        return fault
    path = PurePosixPath("/" + value.lstrip("/"))
    return None if any(path.is_relative_to(folder) for folder in rule.under or ()) else fault


def _decoded(path: str) -> str | None:
    """What a path is after as many decodings as change it; None after too many."""
    for _ in range(_MOST_DECODINGS):
        before, path = path, unquote(path)
        if before == path:
            return path
    return None


def _hosts(rule: Condition, value: Any) -> str | None:
    fault = f"its host must be one of {', '.join(rule.hosts or ())}"
    if not isinstance(value, str) or any(c.isspace() or c in "\\\0" for c in value):
        return fault
    if "://" not in value and any(c in value for c in "/@?#"):
        return fault
    try:
        parts = urlsplit(value if "://" in value else f"//{value}")
        host, port = (parts.hostname or "").removesuffix("."), parts.port
    except ValueError:
        return fault
    if "://" in value and parts.scheme not in rule.schemes:
        return f"its scheme must be one of {', '.join(rule.schemes)}"
    if parts.username is not None or parts.password is not None or not _is_host(host):
        return fault
    if port is not None and rule.ports is not None and port not in rule.ports:
        return f"its port must be one of {', '.join(map(str, rule.ports))}"
    if port is not None and rule.ports is None and port != _OWN_PORTS.get(parts.scheme):
        return "it must use the port of its scheme"
    return None if any(_host_fits(host, allowed) for allowed in rule.hosts or ()) else fault


_OWN_PORTS = {"http": 80, "https": 443, "ftp": 21, "ws": 80, "wss": 443}


def _host_fits(host: str, allowed: str) -> bool:
    allowed = allowed.lower()
    return host == allowed or (
        "*" in allowed and not _is_address(host) and fnmatchcase(host, allowed)
    )


def _is_host(host: str) -> bool:
    is_name = len(host) <= _LONGEST_HOST and _DNS_NAME.fullmatch(host) is not None
    return is_name or _is_address(host)


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _number(value: Any) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = Decimal(str(value).strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _least(rule: Condition, value: Any) -> str | None:
    number = _number(value)
    fits = number is not None and rule.min is not None and number >= rule.min
    return None if fits else f"it must be a number of at least {rule.min}"


def _most(rule: Condition, value: Any) -> str | None:
    number = _number(value)
    fits = number is not None and rule.max is not None and number <= rule.max
    return None if fits else f"it must be a number of at most {rule.max}"


def _max_length(rule: Condition, value: Any) -> str | None:
    limit = rule.max_length or 0
    fits = isinstance(value, (str, list, dict)) and len(cast("Any", value)) <= limit
    return None if fits else f"it may have at most {limit} characters or items"


def _each(rule: Condition, value: Any) -> str | None:
    if not isinstance(value, list):
        return "it must be a list"
    faults = (rule.each.fault(item) for item in cast("list[Any]", value) if rule.each is not None)
    return next((f"for each of its items, {fault}" for fault in faults if fault), None)


_CHECKS: Mapping[str, Callable[[Condition, Any], str | None]] = {
    "type": _type,
    "one_of": _one_of,
    "matches": _matches,
    "under": _under,
    "hosts": _hosts,
    "min": _least,
    "max": _most,
    "max_length": _max_length,
    "each": _each,
}
