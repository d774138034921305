from __future__ import annotations

from collections.abc import Callable

import pytest

Found = Callable[[str, str], list[str]]


@pytest.mark.parametrize(
    "number",
    [
        "DE89370400440532013000",
        "DE89 3704 0044 0532 0130 00",
        "de89-3704-0044-0532-0130-00",
        "GB82 WEST 1234 5698 7654 32",
        "FR14 2004 1010 0505 0001 3M02 606",
        "NO93 8601 1117 947",
        "MT84MALT011000012345MTLCAST001S",
        "DE89\u00a03704\u00a00044\u00a00532\u00a00130\u00a000",
    ],
)
def test_account_number_is_found_as_written(found: Found, number: str) -> None:
    assert found("iban", f"pay {number} today") == [number]


@pytest.mark.parametrize(
    "text",
    [
        "DE00370400440532013000",
        "DE8937040044053201300",
        "XX89370400440532013000",
        "DE893704004405320130001",
        "GB82",
    ],
)
def test_wrong_check_digits_country_or_length_are_left(found: Found, text: str) -> None:
    assert found("iban", text) == []


def test_account_number_is_found_behind_other_letters(found: Found) -> None:
    assert found("iban", "IBANDE89370400440532013000") == ["DE89370400440532013000"]
