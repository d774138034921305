from __future__ import annotations

import re
from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from interlock.middleware.redaction.lookback import Lookback

LONGEST = 8


def find(text: str) -> Iterator[tuple[int, int]]:
    for match in re.finditer(r"<\w{1,6}>|<open.*", text, re.DOTALL):
        yield match.span()


def hide(text: str) -> str:
    return re.sub(r"<\w{1,6}>|<open.*", "#", text, flags=re.DOTALL)


@given(
    st.lists(st.sampled_from(["<", ">", "ab", "cdef", " ", "\n", "<ab>", "中"]), max_size=60),
    st.integers(1, 7),
)
def test_pieces_add_up_to_the_whole_text_changed(parts: list[str], size: int) -> None:
    text = "".join(parts)
    pieces = [text[n : n + size] for n in range(0, len(text), size)]
    buffer = Lookback(find, hide, LONGEST)

    shown = "".join(map(buffer.feed, pieces)) + buffer.flush()

    assert shown == hide(text)


def test_text_flows_while_it_comes() -> None:
    buffer = Lookback(find, hide, LONGEST)

    shown = [buffer.feed(f"word{n} ") for n in range(20)]

    assert sum(bool(piece) for piece in shown) > 15


def test_word_longer_than_the_window_is_not_cut() -> None:
    buffer = Lookback(find, hide, LONGEST)

    assert buffer.feed("ab " + "x" * 100) == "ab "
    assert buffer.feed("x") == ""


def test_match_of_open_length_is_held_and_looked_at_rarely() -> None:
    looks: list[int] = []

    def counting(text: str) -> Iterator[tuple[int, int]]:
        looks.append(len(text))
        return find(text)

    buffer = Lookback(counting, hide, LONGEST)
    shown = buffer.feed("a <open ") + "".join(buffer.feed("word ") for _ in range(5_000))

    assert shown == "a "
    assert len(looks) < 40
    assert buffer.flush() == "#"
