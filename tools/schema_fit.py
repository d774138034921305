"""Whether a value fits a JSON schema, and if not, why. The checker is loaded when first needed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError


def first_problem(value: Any, schema: Any) -> str | None:
    """What is wrong with a value, in words, or None if it fits a schema (draft 2020-12).

    A schema may come from anywhere, so what it refers to is never fetched: nothing fits it then.
    """
    if not isinstance(schema, Mapping):
        return None
    from jsonschema import Draft202012Validator  # noqa: PLC0415
    from jsonschema.exceptions import (  # noqa: PLC0415
        best_match,  # pyright: ignore[reportUnknownVariableType] - its stub lacks the type
    )
    from referencing.exceptions import Unresolvable  # noqa: PLC0415
    from referencing.jsonschema import EMPTY_REGISTRY  # noqa: PLC0415

    # Without a registry jsonschema 4 asks the network for what it does not know.
    validator = Draft202012Validator(cast("Mapping[str, Any]", schema), registry=EMPTY_REGISTRY)
    try:
        error = cast("ValidationError | None", best_match(validator.iter_errors(value)))
    except Unresolvable as missing:
        return f"its schema refers to {missing.ref!r}, which is not in it"
    if error is None:
        return None
    place = ".".join(map(str, error.absolute_path))
    return f"{place}: {error.message}" if place else error.message


def schema_problem(schema: Any) -> str | None:
    """What is wrong with a schema itself, or None."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415
    from jsonschema.exceptions import SchemaError  # noqa: PLC0415

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return error.message
    return None
