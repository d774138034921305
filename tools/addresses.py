"""Which addresses of the network lead out, and which lead in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)

from ..state.errors import ConfigurationError

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_EMBEDDING = (
    (IPv6Network("64:ff9b::/96"), 0),
    (IPv6Network("64:ff9b:1::/48"), 0),
    (IPv6Network("2002::/16"), 80),
    (IPv6Network("::/96"), 0),
)
"""IPv6 ranges that hold an IPv4 address, and how many bits stand behind it.

Source: RFC 6052, 2010, RFC 8215, 2017, RFC 3056, 2001, and RFC 4291, section 2.5.5.1, 2006.
"""

_LOOKS_NUMERIC = re.compile(r"(?:0x[0-9a-f]*|\d+)(?:\.(?:0x[0-9a-f]*|\d+))*\.?", re.IGNORECASE)


def read_networks(networks: Iterable[str]) -> list[Network]:
    """Networks in their usual notation, such as ``10.1.0.0/16``.

    Raises:
        ConfigurationError: One is not valid.
    """
    read: list[Network] = []
    for network in networks:
        try:
            read.append(ip_network(network))
        except ValueError as error:
            msg = f"Network {network!r} is not valid: {error}. Write it like '10.1.0.0/16'."
            raise ConfigurationError(msg) from error
    return read


def is_reachable(address: Address, allowed: Sequence[Network] = ()) -> bool:
    """Whether a connection to an address leads to the public network, or where it is allowed to.

    Private, loopback, link-local, shared, documentation, multicast and reserved ranges do not,
    nor IPv6 addresses that stand for an IPv4 address in one of them.
    """
    if any(address.version == network.version and address in network for network in allowed):
        return True
    inner = _embedded(address)
    if inner is not None:
        return is_reachable(inner, allowed)
    closed = address.is_multicast or address.is_reserved or getattr(address, "is_site_local", False)
    return address.is_global and not closed


def _embedded(address: Address) -> IPv4Address | None:
    """The IPv4 address that an IPv6 address stands for."""
    if not isinstance(address, IPv6Address) or address.is_unspecified or address.is_loopback:
        return None
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.teredo is not None:
        return address.teredo[1]
    for network, shift in _EMBEDDING:
        if address in network:
            return IPv4Address((int(address) >> shift) & 0xFFFF_FFFF)
    return None


def literal_address(host: str) -> Address | None:
    """The address that a host is, if it is one; None for a name.

    Raises:
        ValueError: The host is an address in a notation that resolvers read in different ways,
            such as ``2130706433``, ``0x7f.1`` or ``127.1``.
    """
    if "%" in host:
        msg = "A zone names an interface of this machine."
        raise ValueError(msg)
    try:
        return ip_address(host)
    except ValueError:
        if _LOOKS_NUMERIC.fullmatch(host) or ":" in host:
            raise
    return None
