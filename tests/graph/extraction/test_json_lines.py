from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.graph.extraction import JsonLines
from interlock.state.errors import StorageError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "out.jsonl"


def test_rows_are_read_back(path: Path) -> None:
    with JsonLines(path) as lines:
        lines.append({"a": "ü\n"})
        lines.append({})
        assert [row for _, row in lines.rows()] == [{"a": "ü\n"}, {}]


def test_file_is_gone_on_with_at_its_end(path: Path) -> None:
    for number in range(3):
        with JsonLines(path) as lines:
            lines.append({"n": number})

    assert path.read_text() == '{"n": 0}\n{"n": 1}\n{"n": 2}\n'


@given(st.integers(0, 200_000), st.integers(0, 200_000))
def test_half_written_line_is_cut_off(
    tmp_path_factory: pytest.TempPathFactory, whole: int, half: int
) -> None:
    path = tmp_path_factory.mktemp("lines") / "out.jsonl"
    first = b'{"a": "' + b"x" * whole + b'"}\n'
    path.write_bytes(first + b'{"b": "' + b"y" * half)
    with JsonLines(path) as lines:
        lines.append({"c": 1})

    assert path.read_bytes() == first + b'{"c": 1}\n'


def test_file_of_one_half_line_is_emptied(path: Path) -> None:
    path.write_text('{"a')
    with JsonLines(path) as lines:
        assert list(lines.rows()) == []


@pytest.mark.parametrize("line", ["{", "[1]", "\udcff"])
def test_broken_line_is_named(path: Path, line: str) -> None:
    path.write_bytes(b"{}\n" + os.fsencode(line) + b"\n")
    with JsonLines(path) as lines, pytest.raises(StorageError, match="Line 2"):
        list(lines.rows())


def test_row_is_on_disk_before_the_next_one(path: Path) -> None:
    with JsonLines(path) as lines:
        lines.append({"n": 1})
        assert path.read_text() == '{"n": 1}\n'


def test_row_that_is_no_json_leaves_the_file_as_it_was(path: Path) -> None:
    with JsonLines(path) as lines:
        with pytest.raises(StorageError, match="no JSON"):
            lines.append({"n": float("inf")})
        assert path.read_text() == ""


def test_place_that_is_no_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="writable file"):
        JsonLines(tmp_path)
