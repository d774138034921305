from __future__ import annotations

import csv
import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from interlock.graph.extraction import Extraction, Record
from interlock.graph.extraction.tables import open_table, table_columns, table_row
from interlock.graph.structured_output import SchemaSpec
from interlock.state.errors import MissingExtraError, StorageError

OBJECT: dict[str, Any] = {
    "title": "Order",
    "type": "object",
    "properties": {"item": {"type": "string"}, "tags": {"type": "array"}, "paid": {}},
}


def result(value: Any) -> Extraction[Any]:
    return Extraction[Any](Record(0, "k", "text"), value, schema_name="Order")


def test_columns_are_those_of_all_schemas() -> None:
    other = {"title": "Visit", "type": "object", "properties": {"day": {"type": "string"}}}
    one, two = SchemaSpec[Any](OBJECT), SchemaSpec[Any](other)

    assert list(table_columns([one])) == ["_key", "item", "tags", "paid"]
    assert list(table_columns([one, two])) == ["_key", "_schema", "item", "tags", "paid", "day"]


def test_value_that_is_no_object_has_one_column() -> None:
    assert list(table_columns([SchemaSpec[Any](list[int])])) == ["_key", "value"]
    assert table_row(result([1]))["value"] == [1]


def test_lists_are_written_as_json_and_none_as_nothing(tmp_path: Path) -> None:
    table = open_table(tmp_path / "a.csv", ".csv", [SchemaSpec[Any](OBJECT)])
    table.add(table_row(result({"item": "a,b", "tags": ["ü"], "paid": True, "more": 1})))
    table.add(table_row(result({"item": None})))
    table.close()

    with (tmp_path / "a.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows[1:] == [["k", "a,b", '["ü"]', "true"], ["k", "", "", ""]]


def parquet(path: Path, specs: list[SchemaSpec[Any]], *values: Any) -> list[dict[str, Any]]:
    """Write values and read them again, with pyarrow itself."""
    table = open_table(path, ".parquet", specs)
    try:
        for value in values:
            table.add(table_row(result(value)))
    finally:
        table.close()
    found: list[dict[str, Any]] = (
        importlib.import_module("pyarrow.parquet").read_table(path).to_pylist()
    )
    return found


def schema(**properties: Any) -> SchemaSpec[Any]:
    return SchemaSpec[Any]({"title": "Order", "type": "object", "properties": properties})


@pytest.mark.parametrize(
    ("kind", "value", "kept"),
    [
        ({"type": "integer"}, 3, 3),
        ({"type": "integer"}, None, None),
        ({"type": ["integer", "null"]}, 3, 3),
        ({"anyOf": [{"type": "boolean"}, {"type": "null"}]}, True, True),
        ({"type": "number"}, 2, 2.0),
        ({"type": "number"}, 2**60 + 1, float(2**60)),
        ({"type": "string"}, "grün", "grün"),
        ({"type": "string"}, "half \ud800", "half ?"),
        ({"type": "array"}, ["ü"], '["ü"]'),
        ({"type": "object"}, {"a": 1}, '{"a": 1}'),
        ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, 3, "3"),
        ({}, 1.5, "1.5"),
    ],
)
def test_parquet_keeps_the_type_that_the_schema_names(
    tmp_path: Path, kind: dict[str, Any], value: Any, kept: Any
) -> None:
    pytest.importorskip("pyarrow")

    (row,) = parquet(tmp_path / "a.parquet", [schema(x=kind)], {"x": value})
    assert row == {"_key": "k", "x": kept}
    assert type(row["x"]) is type(kept)


def test_column_of_two_schemas_holds_the_values_of_both(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    one = schema(size={"type": "number"}, code={"type": "integer"}, paid={"type": "boolean"})
    two = schema(size={"type": "integer"}, code={"type": "string"})
    rows = parquet(
        tmp_path / "a.parquet",
        [one, two],
        {"size": 1.5, "code": 7, "paid": True},
        {"size": 2, "code": "a"},
    )

    assert [(r["size"], r["code"], r["paid"]) for r in rows] == [(1.5, "7", True), (2.0, "a", None)]
    assert {r["_schema"] for r in rows} == {"Order"}


def test_parquet_of_many_rows_has_several_groups_and_of_none_only_a_head(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    spec, path = schema(n={"type": "integer"}), tmp_path / "a.parquet"

    rows = parquet(path, [spec], *({"n": n} for n in range(2_500)))
    assert [row["n"] for row in rows] == list(range(2_500))
    assert importlib.import_module("pyarrow.parquet").ParquetFile(path).num_row_groups == 3
    assert parquet(path, [spec]) == []


@pytest.mark.parametrize(("kind", "value"), [("integer", 2**70), ("number", 10**400)])
def test_number_that_parquet_cannot_hold_is_told(tmp_path: Path, kind: str, value: int) -> None:
    pytest.importorskip("pyarrow")

    with pytest.raises(StorageError, match="does not fit its column in Parquet"):
        parquet(tmp_path / "a.parquet", [schema(x={"type": kind})], {"x": value})


def test_parquet_without_pyarrow_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)

    with pytest.raises(MissingExtraError, match=r"interlock\[parquet\]") as caught:
        open_table(tmp_path / "a.parquet", ".parquet", [schema(x={})])
    assert caught.value.extra == "parquet"
    assert list(tmp_path.iterdir()) == []


def test_table_in_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot be written"):
        open_table(tmp_path / "absent" / "a.csv", ".csv", [schema(x={})])
