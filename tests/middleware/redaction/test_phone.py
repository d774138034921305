from __future__ import annotations

from collections.abc import Callable

import pytest

Found = Callable[[str, str], list[str]]


@pytest.mark.parametrize(
    "number",
    [
        "+1 (555) 123-4567",
        "555-123-4567",
        "(555) 123-4567",
        "1-555-123-4567",
        "+49 30 12345678",
        "0049 30 12345678",
        "030 12345678",
        "06 12 34 56 78",
        "+44 20 7946 0958",
        "+7 (912) 345-67-89",
        "8 (912) 345-67-89",
        "13812345678",
        "138-1234-5678",
        "\uff0b\uff14\uff19\uff13\uff10\uff11\uff12\uff13\uff14\uff15\uff16\uff17\uff18",
    ],
)
def test_number_is_found_as_written(found: Found, number: str) -> None:
    assert found("phone", f"call {number} now") == [number]


@pytest.mark.parametrize(
    "text", ["2024-01-15", "01.02.2024", "192.168.1.1", "order 5551234567", "3.14159265358", "12"]
)
def test_what_is_no_number_is_left(found: Found, text: str) -> None:
    assert found("phone", text) == []


def test_bare_digits_count_where_the_text_says_what_they_are(found: Found) -> None:
    assert found("phone", "Phone number: 5551234567, 电话:87654321") == ["5551234567", "87654321"]
