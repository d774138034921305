from __future__ import annotations

from interlock.middleware.patience import Patience


def test_some_turns_pass_after_a_failure() -> None:
    patience = Patience(turns=2)
    assert patience.is_over()
    patience.begin()

    assert [patience.is_over() for _ in range(4)] == [False, False, True, True]
