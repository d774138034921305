"""Text that fits."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from interlock.graph.drawing.lettering import cut, printable, width_of


@given(st.text(), st.floats(20, 400))
def test_cut_text_fits_and_begins_as_it_did(text: str, width: float) -> None:
    shown = cut(text, 13, width)

    assert width_of(shown, 13) <= width
    assert printable(text).startswith(shown.removesuffix("…").rstrip())


@given(st.text())
def test_printable_text_is_one_line_of_letters(text: str) -> None:
    assert printable(text).isprintable()


def test_text_with_room_stays_whole() -> None:
    assert cut("check_question", 13, 400) == "check_question"


def test_wide_letters_need_more_room() -> None:
    assert width_of("iii", 10) < width_of("aaa", 10) < width_of("WWW", 10) < width_of("日日日", 10)
