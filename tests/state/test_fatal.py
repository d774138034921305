from __future__ import annotations

from dataclasses import dataclass

from interlock.state.fatal import fatal, is_fatal


@dataclass(frozen=True)
class _FrozenError(Exception):
    code: int


def test_marked_error_stays_the_same_object() -> None:
    error = ValueError("x")
    assert fatal(error) is error
    assert is_fatal(error)


def test_error_is_not_fatal_by_itself() -> None:
    assert not is_fatal(ValueError("x"))


def test_frozen_error_takes_the_mark() -> None:
    assert is_fatal(fatal(_FrozenError(3)))
