"""The records of an extraction: one text each, with a key that a resumed job knows it by."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from ...state.errors import InvalidInputError, InvalidInputTypeError


@dataclass(frozen=True)
class Record:
    """One text to extract from."""

    position: int
    """Place in the input, from 0."""
    key: str
    """Name of the record in results and when a job is resumed; unique in a job."""
    text: str
    """What the model is given."""

    @property
    def digest(self) -> str:
        """Fingerprint of the text: tells a resumed job whether the record is still the same."""
        data = self.text.encode("utf-8", "surrogatepass")
        return hashlib.blake2b(data, digest_size=16).hexdigest()


Row = str | Mapping[str, Any] | Record
"""A record as users give it: a text, named columns, or a record with a key of their own."""

KeyOf = str | Callable[[str | Mapping[str, Any]], object]
"""Where a record's key comes from: the name of a column, or a function of the row."""


def read_records(rows: Iterable[Row], *, key: KeyOf | None = None) -> Iterator[Record]:
    """Give a record for each row, one at a time: the rows may be more than fit into memory.

    Args:
        rows: Texts, mappings whose columns are given to the model as JSON, or records, which
            keep their keys.
        key: Where keys come from; without it, a record's key is its position, so the order of
            the rows must not change between a job and its resumption.

    Raises:
        InvalidInputTypeError: A row is neither a text nor a mapping that JSON can hold.
        InvalidInputError: A key is missing, empty or no valid Unicode.
    """
    for position, row in enumerate(rows):
        if isinstance(row, Record):
            yield replace(row, position=position)
            continue
        name = str(position) if key is None else _key(row, key, position)
        yield Record(position, name, _text(row, position))


def _text(row: object, position: int) -> str:
    if isinstance(row, str):
        return row
    if isinstance(row, Mapping):
        columns = dict(cast("Mapping[Any, Any]", row))
        try:
            return json.dumps(columns, ensure_ascii=False, default=str)
        except (TypeError, ValueError, RecursionError) as error:
            msg = f"Row {position} cannot be written as JSON: {error}; give plain columns."
            raise InvalidInputTypeError(msg) from error
    msg = f"Row {position} is a {type(row).__name__!r}; give a text or a mapping of columns."
    raise InvalidInputTypeError(msg)


def _column(name: str) -> Callable[[str | Mapping[str, Any]], object]:
    return lambda row: row.get(name) if isinstance(row, Mapping) else None


def _key(row: str | Mapping[str, Any], key: KeyOf, position: int) -> str:
    name_of = key if callable(key) else _column(key)
    found = name_of(row)
    name = "" if found is None else str(found)
    try:
        name.encode()
    except UnicodeEncodeError:
        name = ""
    if not name:
        where = "the key function" if callable(key) else f"the column {key!r}"
        msg = f"Row {position} has no usable key from {where}; give each row one, as plain text."
        raise InvalidInputError(msg)
    return name
