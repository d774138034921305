from __future__ import annotations

from typing import Any

import pytest

from interlock.middleware import AlwaysOffload, NeverOffload, OffloadOverChars
from interlock.state.errors import ConfigurationError


def test_threshold_is_exceeded_strictly() -> None:
    policy = OffloadOverChars(3)

    assert [policy.should_offload("t", "x" * n, {}) for n in (2, 3, 4)] == [False, False, True]


def test_always_and_never_do_not_look() -> None:
    assert AlwaysOffload().should_offload("t", "", {})
    assert not NeverOffload().should_offload("t", "x" * 10**6, {})


@pytest.mark.parametrize("threshold", [-1, True, 1.5, "3"])
def test_threshold_is_a_number_of_characters(threshold: Any) -> None:
    with pytest.raises(ConfigurationError, match="threshold"):
        OffloadOverChars(threshold)
