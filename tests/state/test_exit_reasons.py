from __future__ import annotations

from interlock import state


def test_each_fixed_word_has_a_constant_and_each_constant_a_word() -> None:
    names = [name for name in state.__all__ if name.startswith("EXIT_") and name != "EXIT_REASONS"]
    assert sorted(getattr(state, name) for name in names) == sorted(state.EXIT_REASONS)
    assert all(getattr(state, name) == name.removeprefix("EXIT_").lower() for name in names)
