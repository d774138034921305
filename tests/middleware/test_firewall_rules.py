from __future__ import annotations

from typing import Any

import pytest

from interlock.middleware.firewall_rules import read_condition
from interlock.state import ConfigurationError


def fault(rule: Any, value: Any) -> str | None:
    return read_condition("tool", "argument", rule).fault(value)


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        ("any", {"x": [1]}),
        (["a", "b"], "a"),
        ({"one_of": [1, None]}, None),
        ({"type": "integer"}, 3),
        ({"type": "null"}, None),
        ({"matches": r"[A-Z]{3}-\d+"}, "ABC-12"),
        ({"under": ["/data"]}, "/data/a/b.txt"),
        ({"under": ["/data"]}, "/data"),
        ({"under": ["/data"]}, "/data/src..old/[...slug]"),
        ({"under": ["/data"]}, "/data/100%/a%20b"),
        ({"hosts": ["example.com"]}, "https://example.com/x?y=1"),
        ({"hosts": ["*.example.com"]}, "https://_a.b-c.xn--p1ai.example.com"),
        ({"hosts": ["*.example.com"]}, "https://127.0.0.1.example.com"),
        ({"hosts": ["127.0.0.1", "::1"]}, "https://127.0.0.1"),
        ({"hosts": ["127.0.0.1", "::1"]}, "https://[::1]"),
        ({"hosts": ["*.example.com"]}, "https://api.EXAMPLE.com."),
        (
            {"hosts": ["example.com"], "schemes": ["http"], "ports": [8080]},
            "http://example.com:8080",
        ),
        ({"hosts": ["example.com"]}, "https://example.com:443/"),
        ({"hosts": ["example.com"]}, "example.com"),
        ({"min": 1, "max": 100}, 100),
        ({"max": "0.3"}, "0.3"),
        ({"max_length": 3}, "abc"),
        ({"each": {"max": 5}, "max_length": 2}, [1, 5]),
    ],
)
def test_value_inside_the_rule_passes(rule: Any, value: Any) -> None:
    assert fault(rule, value) is None


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        (["a"], "b"),
        ([1], True),
        ([1], "1"),
        ({"type": "integer"}, True),
        ({"type": "string"}, 3),
        ({"matches": r"\d+"}, "12\n"),
        ({"matches": r"\d+"}, "x12"),
        ({"matches": r"\d+"}, 12),
        ({"matches": r"\d+"}, "1" * 5_000),
        *(({"under": ["/data"]}, p) for p in [
            "/database/x", "/data/../etc/passwd", "/data/%2e%2e/etc", "data/x", "~/x", "C:\\data",
            "/data/%252e%252e/etc", "/data/%25252e%25252e/etc", "/data/%" + "25" * 9 + "2e",
            "/data/x%00", "/data\\..\\x", "\\\\host\\data", "/etc/passwd", "/data/a\0b", "", 5, "../data",
        ]),
        *(({"hosts": ["example.com"]}, u) for u in [
            "https://evil.com", "https://example.com.evil.com", "https://example.com@evil.com",
            "https://evil.com\\@example.com", "https://user@example.com", "http://example.com",
            "https://example.com:8443", "https://notexample.com", "//example.com", "file:///etc",
            "javascript:alert(1)", "https://exam ple.com", "https://\u0435xample.com", "https://", "", 5,
            "https://[::1]", "https://example.com\n.evil.com",
        ]),
        ({"hosts": ["*.example.com"]}, "https://example.com"),
        *(({"hosts": ["*"]}, f"https://{h}") for h in [
            "127.0.0.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.0x1", "[::1]", "a..b",
            "example.com..",
        ]),
        *(({"hosts": ["*.example.com"]}, f"https://evil.com{c}.example.com") for c in [
            *"%;<>{}[]()|,'\"!&$*+=~`^-", "%2f", "%00", "%23", "\u200b", "." + "a" * 64, "." + "a." * 130,
        ]),
        ({"hosts": ["*.example.com"]}, "https://.example.com"),
        *(({"max": 100}, v) for v in [101, "1e9", "NaN", "Infinity", True, None, "ten", [1], 100.01]),
        ({"min": 0}, -0.01),
        ({"max_length": 3}, "abcd"),
        ({"max_length": 3}, 5),
        ({"each": {"max": 5}}, [1, 6]),
        ({"each": {"max": 5}}, "x"),
    ],
)  # fmt: skip
def test_value_outside_the_rule_is_refused_without_being_repeated(rule: Any, value: Any) -> None:
    said = fault(rule, value)

    assert said
    assert not (isinstance(value, str) and len(value) > 4 and value in said)


@pytest.mark.parametrize(
    ("rule", "named"),
    [
        (5, "'argument'"),
        ("all", "'any'"),
        ({"maximum": 5}, "maximum"),
        ({"matches": "("}, "position 0"),
        ({"matches": "(a+)+"}, "for ever"),
        ({"matches": "a*a*a*a*b"}, "for ever"),
        ({"matches": ".*.*.*.*x"}, "for ever"),
        ({"matches": "(ж|.)+!"}, "for ever"),
        ({"under": ["data"]}, "absolute"),
        ({"under": ["/data/../etc"]}, "absolute"),
        ({"type": "text"}, "type"),
        ({"max_length": -1}, "max_length"),
    ],
)
def test_wrong_rule_is_refused_with_tool_and_argument(rule: Any, named: str) -> None:
    with pytest.raises(ConfigurationError, match="'tool', argument 'argument'") as caught:
        read_condition("tool", "argument", rule)

    assert named in str(caught.value)
