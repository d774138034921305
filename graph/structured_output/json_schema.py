"""Schemas that are given as JSON schema: checked when they are given, and held against answers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from jsonschema.protocols import Validator
from jsonschema.validators import (
    validator_for,  # pyright: ignore[reportUnknownVariableType] -- its stub leaves a default untyped
)
from referencing.exceptions import Unresolvable

from ...state.errors import ConfigurationError
from ...state.structured_errors import SchemaMismatchError
from .json_schema_problems import json_schema_problems
from .references import REGISTRY, follow_references


@dataclass(frozen=True)
class JsonSchemaCheck:
    """Holds values against one JSON schema."""

    name: str
    """What to call the schema in messages."""
    schema: dict[str, Any]
    """The schema, a copy that nobody else changes."""
    recursive: bool
    """Whether the schema contains itself."""
    validator: Validator

    def __call__(self, value: object, root: Sequence[str | int] = ()) -> object:
        """Give the value back unchanged.

        Args:
            value: The value, as parsed.
            root: Where it lies in the whole answer.

        Raises:
            SchemaMismatchError: It does not fit.
        """
        try:
            problems = json_schema_problems(self.validator.iter_errors(cast("Any", value)), root)
        # Numbers too large for a float, values nested too deeply and the like, all of them the
        # model's doing: the schema itself was checked.
        except (ArithmeticError, RecursionError, Unresolvable, ValueError, TypeError) as error:
            problems = [f"the value cannot be checked ({type(error).__name__})"]
            raise SchemaMismatchError(self.name, problems) from error
        if problems:
            raise SchemaMismatchError(self.name, problems)
        return value


def check_for(schema: Mapping[str, Any], name: str) -> JsonSchemaCheck:
    """Give the check for a schema.

    ``format`` is asserted for the formats that ``jsonschema`` knows without further packages.

    Raises:
        ConfigurationError: The schema is no JSON, breaks the rules of its edition, has a
            reference to nowhere, or applies itself to the same value without end.
    """
    try:
        text = json.dumps(schema, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        msg = (
            f"The JSON schema {name!r} is no JSON value: {error}; use only dicts, lists, text, "
            "numbers and None."
        )
        raise ConfigurationError(msg) from error
    return _check_for_text(text, name)


# Middleware may make a strategy for each request, and checking a schema takes milliseconds.
@lru_cache(maxsize=256)
def _check_for_text(text: str, name: str) -> JsonSchemaCheck:
    where = f"The JSON schema {name!r}"
    own = cast("dict[str, Any]", json.loads(text))
    draft = _edition(own, where)
    try:
        draft.check_schema(own)
    except SchemaError as error:
        place = error.json_path.replace("$", "#", 1)
        msg = f"{where} is invalid at {place}: {error.message}; correct it there."
        raise ConfigurationError(msg) from error
    except RecursionError as error:
        msg = f"{where} is nested too deeply; move parts of it to '$defs'."
        raise ConfigurationError(msg) from error
    references = follow_references(own, where, draft)
    if references.endless:
        msg = f"{where} refers to itself without end; let the reference stand inside a property."
        raise ConfigurationError(msg)
    validator = draft(own, registry=REGISTRY, format_checker=draft.FORMAT_CHECKER)
    return JsonSchemaCheck(name, own, references.recursive, validator)


def _edition(schema: dict[str, Any], where: str) -> type[Validator]:
    if not isinstance(schema.get("$schema", ""), str):
        msg = f"{where} has a '$schema' that is no text; name an edition or leave it out."
        raise ConfigurationError(msg)
    return validator_for(schema, default=Draft202012Validator)
