from __future__ import annotations

from collections.abc import Callable

import pytest

Found = Callable[[str, str], list[str]]


@pytest.mark.parametrize(
    "address",
    [
        "192.168.1.1",
        "010.001.000.001",
        "fe80::1",
        "::1",
        "2001:db8::ff00:42:8329",
        "2001:0db8:85a3:0000:0000:8a2e:0370:7334",
        "::ffff:192.168.1.1",
        "fe80::1%eth0",
    ],
)
@pytest.mark.parametrize("around", ["at {}", "[{}]:80", "http://[{}]/x", "({}).", "host {}: down"])
def test_ip_address_is_found_as_written(found: Found, address: str, around: str) -> None:
    assert found("ip", around.format(address)) == [address]


@pytest.mark.parametrize("label", ["ip", "IP", "host", "node", "interface", "x:peer"])
@pytest.mark.parametrize("address", ["2001:db8::1", "fe80::1%eth0", "::1", "::ffff:10.0.0.1"])
def test_ip_address_is_found_directly_behind_its_label(
    found: Found, label: str, address: str
) -> None:
    assert found("ip", f"{label}:{address}, up") == [address]


@pytest.mark.parametrize(
    "text",
    [
        "999.999.999.999",
        "1.2.3",
        "1.2.3.4.5",
        "12:30:45",
        "std::dead",
        "foo::bar",
        "::",
        "a:b",
        "foo::a::b",
    ],
)
def test_what_is_no_ip_address_is_left(found: Found, text: str) -> None:
    assert found("ip", text) == []


@pytest.mark.parametrize(
    "address",
    [
        "00:11:22:33:44:55",
        "00-11-22-33-44-55",
        "0011.2233.4455",
        "aa:bb:cc:dd:ee:ff",
        "AABBCC-DDEEFF",
        "00:11:22:33:44:55:66:77",
    ],
)
def test_hardware_address_is_found_as_written(found: Found, address: str) -> None:
    assert found("mac_address", f"device {address}.") == [address]


@pytest.mark.parametrize("label", ["mac:", "MAC=", "hw-", "ether:"])
def test_hardware_address_is_found_directly_behind_its_label(found: Found, label: str) -> None:
    assert found("mac_address", f"{label}00:1A:2B:3C:4D:5E") == ["00:1A:2B:3C:4D:5E"]


@pytest.mark.parametrize(
    "text", ["00:1A:2B:3C", "12:30:45", "0011.2233", "gg:11:22:33:44:55", "00:" * 7]
)
def test_what_is_no_hardware_address_is_left(found: Found, text: str) -> None:
    assert found("mac_address", text) == []
