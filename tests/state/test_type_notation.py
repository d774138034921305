from __future__ import annotations

from contextlib import suppress
from typing import Any, Literal, Optional, Union

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AnyMessage, HumanMessage

from interlock.state import StateSchemaError
from interlock.state.type_notation import read_type, write_type


class Own:
    """A class of the program."""


GENERIC: list[Any] = [list, dict, tuple, Optional, Union]
PAIRS = {str(tuple), str(Union)}


@st.composite
def _generics(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> Any:
    kind: Any = draw(st.sampled_from(GENERIC))
    first = draw(inner)
    if kind == dict:  # noqa: E721 - `is` would make checkers forget that it is Any
        return kind[str, first]
    if kind == tuple and draw(st.booleans()):  # noqa: E721 - as above
        return kind[first, ...]
    return kind[first, draw(inner)] if str(kind) in PAIRS else kind[first]


leaves = st.sampled_from([int, str, bool, None.__class__, Any, Own, AnyMessage, HumanMessage])
types: st.SearchStrategy[Any] = st.recursive(
    leaves | st.just(Literal["a", "b, c", 3]), _generics, max_leaves=4
)


@given(types)
def test_a_type_is_read_as_it_was_written(kind: Any) -> None:
    assert read_type(write_type(kind, {"Own": Own}), {"Own": Own}) == kind


@pytest.mark.parametrize(
    "text",
    [
        *("__import__('os').system('true')", "os.system", "int()", "lambda: int", "1", "'int'"),
        *(
            "list[",
            "",
            "int[str]",
            "Literal[open]",
            "Literal[{1: 2}]",
            "list[int for _ in x]",
            "[int]",
        ),
        *("(" * 400 + ")" * 400, "list[" * 400 + "int" + "]" * 400, "int\nstr", "list[1]"),
    ],
)
def test_what_is_no_type_is_refused(text: str) -> None:
    with pytest.raises(StateSchemaError):
        read_type(text)


@given(st.text(max_size=60))
def test_any_text_is_a_type_or_refused(text: str) -> None:
    with suppress(StateSchemaError):
        read_type(text)


def test_a_value_cannot_be_written() -> None:
    with pytest.raises(StateSchemaError, match="cannot be written"):
        write_type(7)
