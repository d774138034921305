from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.graph.models.openai_compatible.sse import Event, EventReader
from interlock.state.model_errors import ChatModelTooLargeError


def read(
    *blocks: bytes, max_event_bytes: int = 10_000, max_total_bytes: int = 100_000
) -> list[Event]:
    reader = EventReader(max_event_bytes=max_event_bytes, max_total_bytes=max_total_bytes)
    events = [event for block in blocks for event in reader.feed(block)]
    return events + reader.close()


STREAM = (
    b'\xef\xbb\xbfdata: {"a": 1}\r\n\r\n: ping\n\nevent: error\rdata:x\rdata: y\r\r'
    b"retry: 10\ndata:\ndata\n\n" + "data: grüße 🌍\n\nid: 7\ndata: last".encode()
)
EVENTS = [
    (b"", b'{"a": 1}'),
    (b"error", b"x\ny"),
    (b"", b"\n"),
    (b"", "grüße 🌍".encode()),
    (b"", b"last"),
]


def test_events_are_framed_by_the_standard() -> None:
    assert read(STREAM) == EVENTS


@given(st.lists(st.integers(0, len(STREAM)), max_size=20))
def test_events_are_the_same_wherever_the_stream_is_cut(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(STREAM)]
    blocks = [STREAM[a:b] for a, b in pairwise(edges)]

    assert read(*blocks) == EVENTS


def test_events_are_the_same_byte_by_byte() -> None:
    assert read(*[STREAM[n : n + 1] for n in range(len(STREAM))]) == EVENTS


@pytest.mark.parametrize("line", [b": OPENROUTER PROCESSING\n\n", b":\n\n", b":keepalive\n"])
def test_comments_are_no_events(line: bytes) -> None:
    assert read(line, b"data: 1\n\n", line) == [(b"", b"1")]


def test_bare_json_line_is_an_event() -> None:
    assert read(b'{"error": "busy"}\n') == [(b"", b'{"error": "busy"}')]


@pytest.mark.parametrize(
    "blocks",
    [
        [b"data: " + b"x" * 200],
        [b"x"] * 200,
        [b"data: xxxxxxxxx\n"] * 20,
        [b"other: " + b"x" * 200 + b"\n"],
    ],
    ids=["one block", "byte by byte", "many lines", "another field"],
)
def test_event_longer_than_the_limit_is_refused(blocks: list[bytes]) -> None:
    with pytest.raises(ChatModelTooLargeError, match=r"event .* too large.*max_event_bytes"):
        read(*blocks, max_event_bytes=100)


def test_stream_longer_than_the_limit_is_refused() -> None:
    with pytest.raises(ChatModelTooLargeError, match=r"stream .* too large.*max_answer_bytes"):
        read(*[b": ping\n"] * 100, max_total_bytes=500)


def test_long_line_costs_time_in_its_length_only() -> None:
    reader = EventReader(max_event_bytes=10**7, max_total_bytes=10**7)
    for _ in range(100_000):
        reader.feed(b"x")

    assert reader.feed(b"\n") == []


@given(st.lists(st.binary(max_size=30), max_size=20))
def test_any_bytes_are_read_without_a_slip(blocks: list[bytes]) -> None:
    assert isinstance(read(*blocks), list)
