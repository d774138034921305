from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.graph.extraction import Window
from interlock.state.errors import ConfigurationError


@given(st.integers(1, 8), st.integers(0, 40), st.randoms(use_true_random=False))
def test_items_leave_in_order_and_the_window_holds(size: int, count: int, random: Random) -> None:
    window = Window[int](size)
    waiting, running, left = list(range(count)), list[int](), list[int]()
    while waiting or running:
        while waiting and window.may_start(waiting[0]):
            running.append(waiting.pop(0))
        done = running.pop(random.randrange(len(running)))
        left += window.finish(done, done)
        assert window.waiting + len(running) <= size

    assert left == list(range(count))


def test_window_that_holds_nothing_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="at least one"):
        Window[int](0)


def test_what_is_held_back_can_be_taken_in_order() -> None:
    window = Window[str](4)
    window.finish(3, "d")
    window.finish(1, "b")

    assert (window.rest(), window.waiting) == (["b", "d"], 0)
