from __future__ import annotations

from itertools import count

import pytest

from interlock.middleware.search_answer import MOST_LINES, Matches, OutputMode, SearchAnswer


def test_search_that_takes_too_long_says_so() -> None:
    ticks = count()
    search = SearchAnswer(3, clock=lambda: float(next(ticks)))
    found = list(search.until_late(iter("abcdefgh")))

    assert found == ["a", "b", "c"]
    assert search.report(found, "nothing") == (
        "a\nb\nc\n[stopped after 3 s; the search is not complete]"
    )
    assert search.report([], "nothing").startswith("nothing\n[stopped")


def test_time_that_is_left_never_falls_below_zero() -> None:
    times = iter([0.0, 1.0, 9.0])
    search = SearchAnswer(3, clock=lambda: next(times))

    assert search.seconds_left() == 2
    assert search.seconds_left() == 0


@pytest.mark.parametrize("mode", ["files_with_matches", "content", "count"])
def test_no_more_is_kept_than_an_answer_shows(mode: OutputMode) -> None:
    matches = Matches(mode)
    for number in range(MOST_LINES):
        matches.add(f"/{number}", 1, "x")
    assert not matches.more

    matches.add("/last", 1, "x")
    assert matches.more
    assert len(matches.lines()) == MOST_LINES


def test_lines_of_one_file_count_to_the_end() -> None:
    matches = Matches("count")
    for number in range(3 * MOST_LINES):
        matches.add("/a", number, "x")

    assert matches.lines() == ["/a:3000"]
    assert not matches.more
