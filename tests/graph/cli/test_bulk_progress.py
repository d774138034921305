from __future__ import annotations

import io

from interlock.graph.cli.bulk.progress import Bar, Lines, shown_on, status
from interlock.graph.extraction import Totals

TOTALS = Totals(extracted=1_500, rejected=3, usage={"total_tokens": 70_000})


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_status_tells_rate_time_left_failures_and_tokens() -> None:
    text = status(TOTALS, 30.0, 3_006)

    assert text == "1,503/3,006  50.1/s  ETA 0:00:30  failures 3  tokens 70,000"


def test_status_without_an_end_has_no_time_left() -> None:
    assert status(TOTALS, 30.0, None) == "1,503  50.1/s  failures 3  tokens 70,000"


def test_pipe_gets_a_plain_line_every_few_seconds() -> None:
    stream, times = io.StringIO(), iter([0.0, 1.0, 5.0, 6.0, 10.0])
    lines = Lines(stream, None, lambda: next(times))
    for _ in range(4):
        lines.update(TOTALS)

    assert len(stream.getvalue().splitlines()) == 2
    assert "\x1b" not in stream.getvalue()


def test_terminal_gets_a_bar() -> None:
    stream = Terminal()
    bar = shown_on(stream, 3_006)
    bar.update(TOTALS)
    bar.close()

    assert isinstance(bar, Bar)
    assert "1,503/3,006" in stream.getvalue()
