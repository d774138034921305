"""The schema that a person names on the command line."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from ....state.errors import ConfigurationError


def named_schema(name: str) -> Any:
    """Read a JSON schema from a file, or import a schema.

    Modules in the current folder are found too, after everything that is installed, so that no
    file there takes the place of a package.

    Args:
        name: ``schema.json``, or ``package.module:Name``.

    Raises:
        ConfigurationError: There is no such schema.
    """
    if name.endswith(".json"):
        return _from_file(Path(name))
    module, colon, attribute = name.partition(":")
    if not (colon and attribute and all(part.isidentifier() for part in module.split("."))):
        msg = (
            f"--schema {name!r} is no name of a schema. Write it like package.module:Invoice, or "
            "name a file like schema.json."
        )
        raise ConfigurationError(msg)
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)
    try:
        found: object = import_module(module)
    except Exception as error:  # boundary: importing runs whatever the module holds
        msg = (
            f"--schema {name!r}: importing {module!r} failed with {type(error).__name__}: {error}. "
            "Run the command where the module can be imported, or mend the module."
        )
        raise ConfigurationError(msg) from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            msg = f"--schema {name!r}: {module!r} has no {attribute!r}. Correct the name."
            raise ConfigurationError(msg)
        found = getattr(found, part)
    return found


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
