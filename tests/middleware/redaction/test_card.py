from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.middleware.redaction.card import Checksums

Found = Callable[[str, str], list[str]]


@pytest.mark.parametrize(
    "number",
    [
        "4111111111111111",
        "4111-1111-1111-1111",
        "4111 1111 1111 1111",
        "4111.1111.1111.1111",
        "4111\u00a01111\u00a01111\u00a01111",
        "4111\u20131111\u20131111\u20131111",
        "41 11 11 11 11 11 11 11",
        "4111 1111\n1111 1111",
        "\uff14\uff11\uff11\uff11\uff11\uff11\uff11\uff11\uff11\uff11\uff11\uff11\uff11\uff11\uff11\uff11",
        "٤١١١١١١١١١١١١١١١",
        "4111\u200b1111\u200b1111\u200b1111",
        "3782 822463 10005",
        "378282246310005",
        "5105105105105100",
        "2223003122003222",
        "6011111111111117",
        "3056 930902 5904",
        "3530111333300000",
        "6250941006528599",
        "4222222222222",
        "6759649826438453",
    ],
)
def test_number_is_found_as_written(found: Found, number: str) -> None:
    assert found("credit_card", f"my card is {number}, thanks") == [number]


@pytest.mark.parametrize(
    "text",
    [
        "4111111111111112",
        "1234567890123456",
        "0.4539578763621486",
        "4111-1111-1111",
        "2024-01-15 10:30:45",
        "41111111111111111111111111",
        "192.168.100.100",
    ],
)
def test_what_is_no_number_is_left(found: Found, text: str) -> None:
    assert found("credit_card", text) == []


def test_number_is_found_among_other_numbers(found: Found) -> None:
    text = "order 12345 4111 1111 1111 1111 x 5105105105105100"

    assert found("credit_card", text) == ["4111 1111 1111 1111", "5105105105105100"]


def luhn(digits: str) -> bool:
    doubled = [int(d) * 2 for d in digits[-2::-2]]
    return (sum(map(int, digits[-1::-2])) + sum(d - 9 * (d > 9) for d in doubled)) % 10 == 0


@given(st.text("0123456789", min_size=1, max_size=40), st.data())
def test_checksum_of_a_part_is_that_of_the_part_alone(digits: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(digits) - 1))
    end = data.draw(st.integers(start + 1, len(digits)))

    assert Checksums([int(d) for d in digits]).passes(start, end) is luhn(digits[start:end])
