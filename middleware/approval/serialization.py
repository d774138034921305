"""Policies, user interfaces and strategies as plain data, and back.

The data names classes of this package, or of a registry that the program filled; nothing is
imported by name.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any, cast

from ...state.errors import ConfigurationError
from .rule import ToolKey


def to_plain(value: Any, **parameters: Any) -> dict[str, Any]:
    """``{"type", "init_parameters"}`` of an object.

    Args:
        value: An object with ``to_dict``, a dataclass whose fields are plain data, or one that
            takes no arguments.
        **parameters: The arguments, where the object says them itself.

    Raises:
        ConfigurationError: It holds something that is no data, such as a function.
    """
    kind = type(cast("object", value))
    own = getattr(value, "to_dict", None)
    if not parameters and own is not None:
        return cast("dict[str, Any]", own())
    if not parameters and dataclasses.is_dataclass(value):
        parameters = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    elif not parameters and vars(value):
        msg = f"{kind.__name__} has values but no to_dict; give it one that says how to make it."
        raise ConfigurationError(msg)
    try:
        json.dumps(parameters)
    except (TypeError, ValueError) as error:
        msg = (
            f"{kind.__name__} cannot be written down: {error}; use a class that holds data only, "
            "and give it by the registry when it is read."
        )
        raise ConfigurationError(msg) from error
    return {"type": kind.__name__, "init_parameters": parameters}


def from_plain(data: Any, registry: Mapping[str, type[Any]] | None = None) -> Any:
    """The object that :func:`to_plain` wrote down, those inside it included.

    Args:
        data: The plain data.
        registry: Classes beside the shipped ones, by name.

    Raises:
        ConfigurationError: A class is not known, or a parameter does not fit it.
    """
    known = {**_shipped(), **(registry or {})}
    if not isinstance(data, Mapping) or set(cast("Any", data)) != {"type", "init_parameters"}:
        msg = f"{data!r} describes no object; give {{'type': ..., 'init_parameters': {{...}}}}."
        raise ConfigurationError(msg)
    described = cast("Mapping[str, Any]", data)
    # Haystack writes the whole path of a class; only its last part counts here.
    name = str(described["type"]).rpartition(".")[2]
    if name not in known:
        msg = f"{name!r} is not known; the known classes are {', '.join(sorted(known))}."
        raise ConfigurationError(msg)
    given = cast("Mapping[str, Any]", described["init_parameters"])
    parameters = {
        key: from_plain(value, registry) if _is_described(value) else value
        for key, value in given.items()
    }
    try:
        return known[name](**parameters)
    except TypeError as error:
        msg = f"{name!r} cannot be made of {sorted(parameters)}: {error}."
        raise ConfigurationError(msg) from error


def plain_key(key: ToolKey) -> str:
    """A key of the rules as a string: several names as a JSON array."""
    return key if isinstance(key, str) else json.dumps(list(key))


def tool_key(text: str) -> ToolKey:
    """The key that :func:`plain_key` wrote.

    Raises:
        ConfigurationError: It begins like an array of names and is none.
    """
    if not text.startswith("["):
        return text
    try:
        names: Any = json.loads(text)
    except ValueError as error:
        msg = f"{text!r} is no JSON array of tool names: {error}."
        raise ConfigurationError(msg) from error
    return tuple(map(str, names))


def _is_described(value: Any) -> bool:
    return isinstance(value, Mapping) and set(cast("Any", value)) == {"type", "init_parameters"}


def _shipped() -> dict[str, type[Any]]:
    # Imported here, since what is shipped uses this module to write itself down.
    from . import breakpoint as stop  # noqa: PLC0415
    from . import policy, rich_ui, strategy, ui  # noqa: PLC0415

    return {
        "AlwaysAskPolicy": policy.AlwaysAskPolicy,
        "AskOncePolicy": policy.AskOncePolicy,
        "BlockingConfirmationStrategy": strategy.HumanInTheLoopStrategy,
        "BreakpointConfirmationStrategy": stop.BreakpointConfirmationStrategy,
        "ConfidencePolicy": policy.ConfidencePolicy,
        "HumanInTheLoopStrategy": strategy.HumanInTheLoopStrategy,
        "NeverAskPolicy": policy.NeverAskPolicy,
        "RichConsoleUI": rich_ui.RichConsoleUI,
        "SimpleConsoleUI": ui.SimpleConsoleUI,
    }
