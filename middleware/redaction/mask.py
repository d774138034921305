"""What is left to be seen of a value when it is masked."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .match import PIIMatch

_SHOWN = 4
_OCTETS = 4


def mask(match: PIIMatch) -> str:
    """The value with most of it hidden, so that its owner recognises it."""
    own = _MASKS.get(match["type"])
    return own(match["value"]) if own is not None else _last(match["value"])


def _last(value: str) -> str:
    return f"****{value[-_SHOWN:]}" if len(value) > _SHOWN else "****"


def _email(value: str) -> str:
    local, _, domain = value.rpartition("@")
    if not local:
        return "****"
    _, dot, last = domain.rpartition(".")
    return f"{local}@****{dot}{last if dot else ''}"


def _card(value: str) -> str:
    digits = "".join(c for c in value if c.isdigit())
    separator = next((s for s in ("-", " ") if s in value), "")
    return separator.join(["****", "****", "****", digits[-_SHOWN:]])


def _ip(value: str) -> str:
    octets = value.split(".")
    if ":" in value or len(octets) != _OCTETS:
        return f"****:{value.rpartition(':')[2]}" if ":" in value else "****"
    return f"*.*.*.{octets[-1]}"


def _mac(value: str) -> str:
    separator = next((s for s in (":", "-", ".") if s in value), ":")
    return separator.join([*["**"] * 5, value[-2:]])


def _phone(value: str) -> str:
    digits = [c for c in value if c.isdigit()]
    return f"****{''.join(digits[-2:])}"


def _iban(value: str) -> str:
    return f"{value[:2]}****{value[-_SHOWN:]}"


def _url(_value: str) -> str:
    return "[MASKED_URL]"


def _key(_value: str) -> str:
    # The end of a key is as secret as its beginning.
    return "****"


_MASKS: Mapping[str, Callable[[str], str]] = {
    "api_key": _key,
    "credit_card": _card,
    "email": _email,
    "iban": _iban,
    "ip": _ip,
    "mac_address": _mac,
    "phone": _phone,
    "url": _url,
}
