from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from interlock.graph.extraction import Extraction, Record
from interlock.graph.extraction.tables import open_table, table_columns, table_row
from interlock.graph.structured_output import SchemaSpec

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
