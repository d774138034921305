from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from interlock.graph.extraction.input_files import InputFiles
from interlock.state.errors import ConfigurationError, InvalidInputError

Write = Callable[[str, str], str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(name: str, text: str) -> str:
        (tmp_path / name).write_text(text, "utf-8")
        return str(tmp_path / name)

    return written


def texts(path: str, **settings: Any) -> list[str]:
    return [record.text for record in InputFiles([path], **settings)]


def test_records_may_be_read_again(write: Write) -> None:
    files = InputFiles([write("a.jsonl", '"one"\n"two"\n'), write("b.txt", "three")])

    assert list(files) == list(files)
    assert len({record.key for record in files}) == 3


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_table_may_use_any_common_delimiter(write: Write, mark: str) -> None:
    path = write("a.csv", f'id{mark}note\n1{mark}"two\nlines"\n\n2{mark}b\n')

    assert texts(path, columns=["note"]) == ["two\nlines", "b"]


def test_several_columns_are_given_by_name(write: Write) -> None:
    path = write("a.csv", "id,note,who\n1,ü,me\n")

    assert [json.loads(text) for text in texts(path, key="id")] == [{"note": "ü", "who": "me"}]
    assert texts(path, columns=["who", "note"]) == ['{"who": "me", "note": "ü"}']


def test_number_in_a_chosen_column_is_its_text(write: Write) -> None:
    assert texts(write("a.jsonl", '{"n": 1.5}\n'), columns=["n"]) == ["1.5"]


def test_form_may_be_said(write: Write) -> None:
    path = write("a.csv", "one\n\ntwo\n")

    assert texts(path, form="text") == ["one\n\ntwo\n"]
    assert texts(path, form="lines") == ["one", "two"]


def test_empty_table_has_no_records(write: Write) -> None:
    assert texts(write("a.csv", "")) == []


@pytest.mark.parametrize(
    ("line", "settings", "words"),
    [
        ("3", {}, "Row 1 .* has no columns"),
        ('"text"', {"columns": ["a"]}, "has no columns"),
        ('{"a": 1}', {"key": "b"}, "no column 'b'"),
        ('{"a": ""}', {"key": "a"}, "empty key 'a'"),
        ("{", {}, "line 1 is no JSON"),
    ],
)
def test_row_that_cannot_be_used_is_named(
    write: Write, line: str, settings: Any, words: str
) -> None:
    with pytest.raises(InvalidInputError, match=words):
        texts(write("a.jsonl", line + "\n"), **settings)


def test_no_files_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="no input"):
        InputFiles([])
