from __future__ import annotations

import threading
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from interlock.state.containers import copy_containers, is_deeper_than


def test_containers_are_copied_at_every_depth() -> None:
    value: Any = {"a": [1, {"b": {2}}], "c": ([3],)}
    copied = copy_containers(value)
    assert copied == value
    value["a"][1]["b"].add(9)
    value["c"][0].append(9)
    value["d"] = 9
    assert copied == {"a": [1, {"b": {2}}], "c": ([3],)}


def test_everything_else_is_handed_on() -> None:
    class Own(list[int]):
        """A list with a meaning of its own."""

    lock, message, own = threading.Lock(), HumanMessage("x"), Own([1])
    copied = copy_containers([lock, [message], own])
    assert copied[0] is lock
    assert copied[1][0] is message
    assert copied[2] is own


@pytest.mark.parametrize("value", [[[1]], {"a": [1]}, ({1},)])
def test_levels_are_counted(value: Any) -> None:
    assert is_deeper_than(1, value)
    assert not is_deeper_than(2, value)


def test_what_holds_itself_is_deeper_than_anything() -> None:
    loop: list[Any] = []
    loop += [loop, loop]
    assert is_deeper_than(1_000, loop)
