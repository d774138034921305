"""Values as tables: CSV, or Parquet where pyarrow is installed."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, Protocol

from ...state.errors import MissingExtraError, StorageError
from ..structured_output import SchemaSpec
from ..structured_output.json_value import is_list, is_object
from ..structured_output.shape import WRAPPED_FIELD
from .result import Extraction
from .result_file import plain_value

KEY, SCHEMA = "_key", "_schema"
"""Columns beside those of the schema; the second one only where there are several schemas."""

Kind = Literal["bool_", "float64", "int64", "string"]
"""Type of a column, in pyarrow's words."""

_KINDS: dict[str, Kind] = {"integer": "int64", "number": "float64", "boolean": "bool_"}
_BATCH = 1_000
"""Rows of one row group."""


class Table(Protocol):
    """Takes rows, one at a time."""

    def add(self, row: Mapping[str, Any]) -> None:
        """Write a row."""
        ...

    def close(self) -> None:
        """Finish the file."""
        ...


def table_columns(specs: Sequence[SchemaSpec[Any]]) -> dict[str, Kind]:
    """Name the columns of schemas, each with a type that holds what all schemas say of it."""
    columns: dict[str, Kind] = {KEY: "string"}
    if len(specs) > 1:
        columns[SCHEMA] = "string"
    for spec in specs:
        for name, schema in spec.json_schema.get("properties", {}).items():
            kind = _kind(schema)
            columns[name] = _joined(columns.get(name, kind), kind)
    return columns


def table_row(result: Extraction[Any]) -> dict[str, Any]:
    """Give the value of a result by column."""
    value = plain_value(result)
    fields = value if is_object(value) else {WRAPPED_FIELD: value}
    return {KEY: result.record.key, SCHEMA: result.schema_name, **fields}


def open_table(path: Path, suffix: str, specs: Sequence[SchemaSpec[Any]]) -> Table:
    """Begin a table.

    Args:
        path: The file.
        suffix: Which kind: ``.csv``, ``.tsv`` or ``.parquet``.
        specs: The schemas of the values.

    Raises:
        MissingExtraError: Parquet is wanted and pyarrow is not installed.
        StorageError: The file cannot be written.
    """
    columns = table_columns(specs)
    try:
        if suffix == ".parquet":
            return ParquetTable(path, columns)
        return CsvTable(path, columns, "\t" if suffix == ".tsv" else ",")
    except OSError as error:
        msg = f"{str(path)!r} cannot be written: {error}; give another file."
        raise StorageError(msg) from error


class CsvTable:
    """A table of text; lists and objects are written as JSON."""

    def __init__(self, path: Path, columns: Mapping[str, Kind], delimiter: str) -> None:
        """Write the head."""
        self._file = path.open("w", encoding="utf-8", errors="replace", newline="")
        self._writer = csv.DictWriter(
            self._file, list(columns), extrasaction="ignore", delimiter=delimiter
        )
        self._writer.writeheader()

    def add(self, row: Mapping[str, Any]) -> None:
        """See ``Table``."""
        self._writer.writerow({name: _cell(value) for name, value in row.items()})

    def close(self) -> None:
        """See ``Table``."""
        self._file.close()


class ParquetTable:
    """A table with types: integers, numbers, booleans, texts; all else as JSON."""

    def __init__(self, path: Path, columns: Mapping[str, Kind]) -> None:
        """Find pyarrow and begin the file."""
        try:
            # By name: it is no dependency, only used where somebody has it.
            self._arrow: Any = import_module("pyarrow")
            parquet: Any = import_module("pyarrow.parquet")
        except ImportError as error:
            msg = "Parquet needs the extra 'parquet': pip install 'interlock[parquet]'."
            raise MissingExtraError(msg, extra="parquet") from error
        self._columns = columns
        self._schema = self._arrow.schema(
            [(name, getattr(self._arrow, kind)()) for name, kind in columns.items()]
        )
        self._writer: Any = parquet.ParquetWriter(str(path), self._schema)
        self._rows: list[Mapping[str, Any]] = []

    def add(self, row: Mapping[str, Any]) -> None:
        """See ``Table``."""
        self._rows.append(row)
        if len(self._rows) == _BATCH:
            self._write()

    def close(self) -> None:
        """See ``Table``."""
        try:
            self._write()
        finally:
            self._writer.close()

    def _write(self) -> None:
        rows, self._rows = self._rows, []
        if not rows:
            return
        try:
            typed = [
                {name: _typed(row.get(name), kind) for name, kind in self._columns.items()}
                for row in rows
            ]
            table = self._arrow.Table.from_pylist(typed, schema=self._schema)
        except (self._arrow.ArrowException, OverflowError) as error:
            msg = f"A value does not fit its column in Parquet: {error}; write CSV or JSON lines."
            raise StorageError(msg) from error
        self._writer.write_table(table)


def _cell(value: object) -> object:
    """A value as text, as CSV has nothing else; None stays empty."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _typed(value: object, kind: Kind) -> object:
    """A value as a column takes it."""
    if kind == "string":
        text = _cell(value)
        # Half of a surrogate pair is no text for Parquet, nor is it for a file in UTF-8.
        return text.encode("utf-8", "replace").decode() if isinstance(text, str) else text
    return float(value) if kind == "float64" and isinstance(value, int) else value


def _kind(schema: Mapping[str, Any]) -> Kind:
    """Name the type of a column for one schema."""
    choices: object = schema.get("anyOf", [schema])
    named: list[object] = []
    for choice in choices if is_list(choices) else []:
        types: object = choice.get("type") if is_object(choice) else None
        named += types if is_list(types) else [types]
    named = [name for name in named if name != "null"]
    return _KINDS.get(str(named[0]), "string") if len(named) == 1 else "string"


def _joined(one: Kind, other: Kind) -> Kind:
    """Name the type that holds the values of two."""
    if one == other:
        return one
    return "float64" if {one, other} == {"float64", "int64"} else "string"
