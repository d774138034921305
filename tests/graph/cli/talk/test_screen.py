from __future__ import annotations

import pytest

from interlock.graph.cli.talk.screen import short, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("two\n\tlines", "two\n\tlines"),
        ("\x1b[31mred", "\ufffd[31mred"),
        ("a\r\nb", "a\nb"),
        ("user\u202etxt", "user\ufffdtxt"),
        ("می\u200cروم", "می\u200cروم"),
        ("10\u00a0km", "10 km"),
    ],
)
def test_a_terminal_is_shown_letters_and_never_commands(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_a_long_value_is_cut_to_one_line() -> None:
    assert short({"a": ["b\nc"]}) == '{"a": ["b\\nc"]}'
    assert len(short("x " * 500)) == 200
