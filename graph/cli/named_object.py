"""What a person names on the command line as ``package.module:name``."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

from ...state.errors import ConfigurationError


def named_object(option: str, name: str, not_a_name: str) -> object:
    """Import the object that an option names.

    Modules in the current folder are found too, after everything that is installed, so that no
    file there takes the place of a package.

    Args:
        option: The option, like ``--tools``, for the errors.
        name: ``package.module:name``.
        not_a_name: What an error says of a name that is not of this form.

    Raises:
        ConfigurationError: The name is malformed or cannot be imported.
    """
    module, colon, attribute = name.partition(":")
    if not (colon and attribute and all(part.isidentifier() for part in module.split("."))):
        msg = f"{option} {name!r} {not_a_name}"
        raise ConfigurationError(msg)
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)
    try:
        found: object = import_module(module)
    except Exception as error:  # boundary: importing runs whatever the module holds
        msg = (
            f"{option} {name!r}: importing {module!r} failed with {type(error).__name__}: {error}. "
            "Run the command where the module can be imported, or mend the module."
        )
        raise ConfigurationError(msg) from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            msg = f"{option} {name!r}: {module!r} has no {attribute!r}. Correct the name."
            raise ConfigurationError(msg)
        found = getattr(found, part)
    return found
