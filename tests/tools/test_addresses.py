from __future__ import annotations

from ipaddress import ip_address

import pytest

from interlock.state import ConfigurationError
from interlock.tools.addresses import is_reachable, literal_address, read_networks


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "93.184.216.34", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]
)
def test_public_address_is_reachable(address: str) -> None:
    assert is_reachable(ip_address(address))


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.8.8.8", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254"),
        *("100.64.0.1", "100.100.100.200", "0.0.0.0", "192.0.0.1", "198.18.0.1", "224.0.0.1"),  # noqa: S104
        *("240.0.0.1", "255.255.255.255", "192.0.2.1", "203.0.113.5"),
        *("::", "::1", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "fec0::1", "2001:db8::1"),
        *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1"),
        *("64:ff9b:1::a00:1", "2002:7f00:1::", "2002:a00:1::", "2001:0:4136:e378:8000:63bf:80ff:fffe"),
    ],
)  # fmt: skip
def test_address_that_leads_in_is_not(address: str) -> None:
    assert not is_reachable(ip_address(address))


def test_allowed_networks_are_reachable() -> None:
    allowed = read_networks(["10.1.0.0/16", "fd00::/8"])

    assert is_reachable(ip_address("10.1.2.3"), allowed)
    assert is_reachable(ip_address("fd00::1"), allowed)
    assert is_reachable(ip_address("::ffff:10.1.2.3"), allowed)
    assert not is_reachable(ip_address("10.2.0.1"), allowed)


@pytest.mark.parametrize(
    "host",
    [
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "127.1",
        "0177.0.0.1",
        "1.2.3.4.",
        "fe80::1%eth0",
        "::zz",
        "999.1.1.1",
    ],
)
def test_odd_notation_of_an_address_is_refused(host: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        literal_address(host)


@pytest.mark.parametrize(
    "host", ["example.com", "1.example.com", "0x.example", "localhost", "face.com"]
)
def test_name_is_no_address(host: str) -> None:
    assert literal_address(host) is None


def test_network_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"10\.0\.0\.1/8"):
        read_networks(["10.0.0.1/8"])
