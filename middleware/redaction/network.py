"""Addresses of machines: IPv4, IPv6 and hardware addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import AddressValueError, IPv6Address

from .folding import folding_detector
from .match import Span

_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|0{0,2}\d{1,2})"
_IPV4 = re.compile(rf"(?<![\d.])(?:{_OCTET}\.){{3}}{_OCTET}(?!\d|\.\d)", re.ASCII)
_LABELLED = "|".join(rf"(?<=[G-Zg-z_]\w{{{n}}}:)" for n in range(4)) + r"|(?<=\w{5}:)"
"""Behind a colon whose word is no part of an address: ``ip:fe80::1``."""
_IPV6 = re.compile(
    rf"(?:(?<![\w:.])|{_LABELLED})(?=[0-9A-Fa-f]{{0,4}}:)[0-9A-Fa-f:]{{2,46}}+(?!:)"
    r"(?:(?:\d{1,3}\.){3}\d{1,3})?(?:%[\w.-]{1,32})?(?!\w)",
    re.ASCII,
)
"""Of bounded length, so that a text in which many could begin costs its length."""
_LONGEST_IPV6 = 45
_MAC = re.compile(
    r"(?<![0-9A-Za-z])(?<!\b[0-9A-Fa-f]{2}[:-])(?<!\b[0-9A-Fa-f]{4}[.:-])(?:"
    r"[0-9A-Fa-f]{2}([:-])[0-9A-Fa-f]{2}(?:\1[0-9A-Fa-f]{2}){4}(?:(?:\1[0-9A-Fa-f]{2}){2})?"
    r"|[0-9A-Fa-f]{4}([.:-])[0-9A-Fa-f]{4}\2[0-9A-Fa-f]{4}(?:\2[0-9A-Fa-f]{4})?"
    r"|[0-9A-Fa-f]{6}-[0-9A-Fa-f]{6}"
    r")(?![0-9A-Za-z])(?![:-][0-9A-Fa-f])",
    re.ASCII,
)


def find_ips(text: str) -> Iterator[Span]:
    """Spans of the IP addresses in a folded text."""
    for found in _IPV4.finditer(text):
        yield found.span()
    for found in _IPV6.finditer(text):
        written = found[0]
        # A clause may end with the address: "the host is fe80::1:"
        end = found.end() - (written.endswith(":") and not written.endswith("::"))
        if _is_ipv6(text[found.start() : end]):
            yield found.start(), end


def _is_ipv6(written: str) -> bool:
    bare = written.partition("%")[0]
    # "::" alone is punctuation of a dozen programming languages.
    if bare == "::" or len(bare) > _LONGEST_IPV6:
        return False
    try:
        IPv6Address(bare)
    except AddressValueError:
        return False
    return True


def find_macs(text: str) -> Iterator[Span]:
    """Spans of the hardware addresses in a folded text."""
    for found in _MAC.finditer(text):
        yield found.span()


detect_ip = folding_detector("ip", find_ips)
"""Matches of IP addresses."""

detect_mac_address = folding_detector("mac_address", find_macs)
"""Matches of hardware addresses."""
