"""The list of what Haystack's users had: each row is decided, and held by a test that exists."""

from __future__ import annotations

import ast
import csv
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIST = Path(__file__).with_name("haystack.csv")
ROWS = 294
STATUSES = {"implemented", "different on purpose", "not applicable"}


def read() -> list[dict[str, str]]:
    with LIST.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, strict=True))


@cache
def defined_in(path: str) -> frozenset[str]:
    """Names of the test functions that a file defines."""
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    functions = (n for n in tree.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))
    return frozenset(f.name for f in functions if f.name.startswith("test_"))


def unknown(name: str) -> bool:
    """Whether no file defines a test of this name, ``path::test``."""
    path, _, test = name.partition("::")
    return not (ROOT / path).is_file() or test not in defined_in(path)


def test_every_row_is_there_once() -> None:
    assert [row["row"] for row in read()] == [f"S{number}" for number in range(1, ROWS + 1)]


def test_every_row_is_decided() -> None:
    assert {row["row"]: row["status"] for row in read() if row["status"] not in STATUSES} == {}


def test_what_differs_says_why() -> None:
    rows = [row for row in read() if row["status"] != "implemented"]
    assert [row["row"] for row in rows if not row["reason"].strip()] == []


def test_every_row_names_a_test_that_exists() -> None:
    assert {row["row"]: row["test"] for row in read() if unknown(row["test"])} == {}


def test_reasons_are_short() -> None:
    assert {row["row"]: row["reason"] for row in read() if len(row["reason"]) > 120} == {}


@pytest.mark.parametrize(
    ("name", "missing"),
    [
        ("tests/parity/test_haystack.py::test_every_row_is_there_once", False),
        ("tests/parity/test_haystack.py::test_that_nobody_wrote", True),
        ("tests/parity/test_haystack.py::read", True),
        ("tests/parity/test_haystack.py", True),
        ("tests/parity/no_such_file.py::test_every_row_is_there_once", True),
        ("", True),
    ],
)
def test_a_name_without_a_test_is_noticed(name: str, missing: bool) -> None:
    assert unknown(name) is missing


def test_most_rows_are_implemented() -> None:
    """A list that only explains itself away would not be one of parity."""
    counts = Counter(row["status"] for row in read())
    assert counts["implemented"] > 2 * counts["different on purpose"]
