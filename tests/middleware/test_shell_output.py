from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from interlock.middleware.shell_output import ShellOutput

MARK = b"0123456789abcdef"


def output(max_lines: int = 100, max_bytes: int | None = 1_000) -> ShellOutput:
    return ShellOutput(MARK, max_lines, max_bytes)


def finish(taker: ShellOutput, status: int = 0) -> None:
    taker.feed("out", b"\n%s %d\n" % (MARK, status))
    taker.feed("err", b"\n%s\n" % MARK)


@given(
    st.text(st.sampled_from("ab\n0123 é"), max_size=60),
    st.lists(st.integers(1, 9), max_size=40),
    st.integers(0, 255),
)
def test_output_is_read_wherever_it_is_cut(text: str, sizes: list[int], status: int) -> None:
    taker = output()
    data = text.encode() + b"\n%s %d\n" % (MARK, status)
    while data:
        size = sizes.pop() if sizes else 7
        taker.feed("out", data[:size])
        data = data[size:]
    taker.feed("err", b"\n%s\n" % MARK)

    assert taker.wait(0)
    assert taker.status == status
    assert taker.text == text.removesuffix("\n").replace("\r", "")
    assert taker.total_bytes == len(text.encode())


def test_it_is_done_when_both_streams_are() -> None:
    taker = output()
    taker.feed("out", b"\n%s 0\n" % MARK)

    assert not taker.wait(0)
    taker.feed("err", b"")
    assert taker.wait(0)


def test_error_lines_are_marked() -> None:
    taker = output()
    taker.feed("err", b"oh\n")
    taker.feed("out", b"well\n")
    finish(taker)

    assert sorted(taker.text.splitlines()) == ["[stderr] oh", "well"]


def test_no_more_than_the_limits_is_kept_and_the_rest_counted() -> None:
    taker = output(max_lines=2, max_bytes=50)
    for _ in range(1_000):
        taker.feed("out", b"x" * 100 + b"\n")
    taker.feed("out", b"y" * 10_000_000)
    finish(taker)

    assert taker.text == "x" * 50
    assert (taker.cut_lines, taker.cut_bytes) == (True, True)
    assert (taker.total_lines, taker.total_bytes) == (1_001, 101_000 + 10_000_000)
    assert len(repr(taker)) < 1_000_000


def test_mark_of_another_command_ends_nothing() -> None:
    taker = output()
    taker.feed("out", b"\nfedcba9876543210 0\n")
    taker.feed("err", b"\nfedcba9876543210\n")

    assert not taker.wait(0)


def test_closing_takes_what_is_there() -> None:
    taker = output()
    taker.feed("out", b"half a line")
    taker.close()

    assert taker.wait(0)
    assert (taker.text, taker.status) == ("half a line", None)
