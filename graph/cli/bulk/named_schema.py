"""The schema that a person names on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ....state.errors import ConfigurationError
from ..named_object import named_object


def named_schema(name: str) -> Any:
    """Read a JSON schema from a file, or import a schema.

    Args:
        name: ``schema.json``, or ``package.module:Name``.

    Raises:
        ConfigurationError: There is no such schema.
    """
    if name.endswith(".json"):
        return _from_file(Path(name))
    return named_object(
        "--schema",
        name,
        "is no name of a schema. Write it like package.module:Invoice, or "
        "name a file like schema.json.",
    )


def _from_file(path: Path) -> Any:
    try:
        schema: object = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        msg = f"--schema {str(path)!r} cannot be read: {error}. Give a file with a JSON schema."
        raise ConfigurationError(msg) from error
    if not isinstance(schema, dict):
        msg = f"--schema {str(path)!r} holds no JSON object. Give a file with a JSON schema."
        raise ConfigurationError(msg)
    return schema  # pyright: ignore[reportUnknownVariableType] -- whatever JSON holds
