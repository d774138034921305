from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, Field

from interlock.graph.extraction import Extraction, Record, ResultFile
from interlock.state.errors import InvalidInputError, StorageError

SETTINGS = {"schema": {"type": "object"}, "model": "m"}


class Visit(BaseModel):
    day: dt.date
    guests: int = Field(1, alias="numberOfGuests")


def record(position: int, text: str = "text") -> Record:
    return Record(position, f"key {position}", text)


def done(position: int = 0, value: Any = None, data: Any = None) -> Extraction[Any]:
    return Extraction[Any](record(position), value, data=data, schema_name="S", attempts=1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "out.jsonl"


def row(path: Path) -> dict[str, Any]:
    (line,) = path.read_text().splitlines()
    return json.loads(line)  # type: ignore[no-any-return]


def test_result_is_found_after_the_file_was_closed(path: Path) -> None:
    for position in (0, 1):
        file = ResultFile(path, SETTINGS)
        file.add(done(position, {"n": position}, {"n": position}))
        file.close()
    file = ResultFile(path, SETTINGS)

    found = [file.find(record(position)) for position in (0, 1, 2)]
    file.close()
    assert [r and r.data for r in found] == [{"n": 0}, {"n": 1}, None]


def test_value_is_written_in_the_names_of_its_schema(path: Path) -> None:
    data = {"day": "2026-03-01", "numberOfGuests": 2}
    file = ResultFile(path, SETTINGS)
    file.add(done(0, Visit.model_validate(data), data))
    file.close()

    assert row(path)["value"] == data
    assert "data" not in row(path)


def test_data_is_kept_where_the_value_differs(path: Path) -> None:
    data = {"day": "2026-03-01"}
    file = ResultFile(path, SETTINGS)
    file.add(done(0, Visit.model_validate(data), data))

    found = file.find(record(0))
    file.close()
    assert found is not None
    assert found.data == data
    assert row(path)["value"] == {"day": "2026-03-01", "numberOfGuests": 1}


def test_value_out_of_its_one_field_is_written_alone(path: Path) -> None:
    file = ResultFile(path, SETTINGS)
    file.add(done(0, [1, 2], {"value": [1, 2]}))
    file.close()

    assert row(path)["value"] == [1, 2]
    assert "data" not in row(path)


def test_record_is_written_once(path: Path) -> None:
    file = ResultFile(path, SETTINGS)
    for _ in range(2):
        file.add(done(0, 1, 1))
    file.close()

    assert row(path)["key"] == "key 0"


@pytest.mark.parametrize(
    ("settings", "text"), [({**SETTINGS, "model": "other"}, "text"), (SETTINGS, "other")]
)
def test_row_of_something_else_is_refused(path: Path, settings: Any, text: str) -> None:
    file = ResultFile(path, SETTINGS)
    file.add(done(0, 1, 1))
    file.close()
    file = ResultFile(path, settings)

    with pytest.raises(InvalidInputError, match="made from another text"):
        file.find(record(0, text))
    file.close()


@pytest.mark.parametrize("line", ["{}", '{"key": 1, "fingerprint": "x"}', '{"key": "a"}'])
def test_file_of_other_rows_is_refused(path: Path, line: str) -> None:
    path.write_text(line + "\n")

    with pytest.raises(StorageError, match="rows of something else"):
        ResultFile(path, SETTINGS)


def test_file_in_use_is_refused(path: Path) -> None:
    file = ResultFile(path, SETTINGS)
    with pytest.raises(StorageError, match="another process uses it"):
        ResultFile(path, SETTINGS)
    file.close()
