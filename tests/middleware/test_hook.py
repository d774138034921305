from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import pytest

from interlock.middleware import FunctionHook, hook
from interlock.middleware.function_hook import name_of
from interlock.state import ConfigurationError, State, WouldBlockError


def plain(state: State) -> str:
    """Say what it is given."""
    return f"plain {state['topic']}"


async def awaited(state: State) -> str:
    return f"awaited {state['topic']}"


STATE = State({"topic": {"type": str}}, {"topic": "x"})


def test_a_function_fills_the_slot_of_its_kind() -> None:
    assert (hook(plain).function, hook(plain).async_function) == (plain, None)
    assert (hook(awaited).function, hook(awaited).async_function) == (None, awaited)


async def test_a_hook_can_be_called_by_itself() -> None:
    assert hook(plain)(STATE) == "plain x"
    assert hook(plain).run(STATE) == "plain x"
    assert await hook(plain).run_async(STATE) == "plain x"
    assert await hook(awaited).run_async(STATE) == "awaited x"
    both = FunctionHook(plain, awaited)
    assert (both.run(STATE), await both.run_async(STATE)) == ("plain x", "awaited x")


def test_an_asynchronous_hook_cannot_be_called_in_a_plain_way() -> None:
    with pytest.raises(WouldBlockError, match="'awaited' is asynchronous; use ainvoke"):
        hook(awaited).run(STATE)


def test_a_hook_keeps_the_name_and_the_words_of_its_function() -> None:
    made = hook(plain)
    assert (made.__name__, made.__doc__) == ("plain", "Say what it is given.")
    assert name_of(partial(partial(plain))) == "plain"


def test_settings_stay_on_the_hook() -> None:
    made: Any = hook(allowed_hook_points=["on_exit"], can_jump_to=["end"], interrupts=True)(plain)
    assert made.allowed_hook_points == ["on_exit"]
    assert (made.__can_jump_to__, made.__interrupts__) == (["end"], True)


@pytest.mark.parametrize(
    ("functions", "why"),
    [
        ((None, None), "needs a function"),
        ((awaited, None), "give a def function"),
        ((None, plain), "give an async def function"),
        ((7, None), "give a def function"),
    ],
    ids=range(4),
)
def test_a_hook_needs_functions_of_the_right_kind(functions: Any, why: str) -> None:
    with pytest.raises(ConfigurationError, match=why):
        FunctionHook(*functions)


def test_a_function_that_cannot_be_given_the_state_is_refused() -> None:
    def nothing() -> None:
        """Take nothing."""

    def only_names(*, state: State) -> None:
        """Take no position."""

    def other(values: dict[str, Any]) -> None:
        """Take a dict."""

    for function in (nothing, only_names):
        with pytest.raises(ConfigurationError, match=rf"'{function.__name__}' takes no state"):
            hook(function)
    with pytest.raises(ConfigurationError, match=r"'other' takes 'values' as 'dict'.*State"):
        hook(other)


def test_any_notation_of_the_state_is_understood() -> None:
    def optional(state: State | None) -> None:
        """Take it or nothing."""

    def quoted(state: Missing, runtime: Any) -> None:  # type: ignore[name-defined]  # noqa: F821
        """Be annotated with what only type checkers know."""

    def bare(state, runtime=None) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
        """Say nothing of types."""

    quoted.__annotations__["state"] = "interlock.state.State | Missing"
    functions: list[Any] = [optional, quoted, bare]
    for function in functions:
        made: Any = hook(function)
        assert made.function is function


def test_a_mapping_is_not_the_live_state() -> None:
    def reads(state: Mapping[str, Any]) -> None:
        """Take a mapping."""

    with pytest.raises(ConfigurationError, match="annotate it as State"):
        hook(reads)
