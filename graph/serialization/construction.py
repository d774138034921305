"""How an object was made: the arguments of its constructor, by name."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from inspect import Parameter, signature
from typing import Any, cast

from ...state.errors import ConfigurationError

SECRET_ARGUMENTS = frozenset({"api_key", "key", "password", "secret", "token"})
"""Arguments that are never written down."""


def arguments_of(value: Any, where: str) -> dict[str, Any]:
    """The arguments that make a copy of an object, those with their default left out.

    Raises:
        ConfigurationError: The object does not tell.
    """
    kind: type[Any] = type(cast("object", value))
    made_with = getattr(value, "_made_with", None)
    if made_with is not None:
        args, options = made_with
        bound = signature(kind).bind(*args, **options)
        return dict(bound.arguments.pop("kwargs", {}), **bound.arguments)
    if (told := _told_arguments(value)) is not None:
        return told
    if dataclasses.is_dataclass(value) and _takes_its_fields(kind):
        return {
            f.name: item
            for f in dataclasses.fields(value)
            if f.init and not _is_default(f, item := getattr(value, f.name))
        }
    return _kept_arguments(value, where)


def make(kind: type[Any], arguments: Mapping[str, Any], where: str) -> Any:
    """An object made of arguments by name.

    Raises:
        ConfigurationError: They do not fit.
    """
    parameters = signature(kind).parameters
    args: list[Any] = []
    options = dict(arguments)
    try:
        for name, parameter in parameters.items():
            if parameter.kind is Parameter.VAR_POSITIONAL and name in options:
                rest = cast("list[Any]", options.pop(name))
                before = [p for p in parameters if p in options and _is_positional(parameters[p])]
                args = [*(options.pop(p) for p in before), *rest]
        return kind(*args, **options)
    except (TypeError, ValueError, AttributeError, LookupError) as error:
        # A constructor may take a wrong type for the right one and fail on it.
        msg = f"{where}: {kind.__name__} cannot be made of {sorted(arguments)}: {error}"
        raise ConfigurationError(msg) from error


def _takes_its_fields(kind: type[Any]) -> bool:
    """Whether a dataclass has the constructor that was made for it."""
    return [f.name for f in dataclasses.fields(kind) if f.init] == [*signature(kind).parameters]


def _told_arguments(value: Any) -> dict[str, Any] | None:
    """The arguments of an object whose ``to_dict`` says them, as Haystack's objects do."""
    told = getattr(value, "to_dict", None)
    data: Any = told() if callable(told) else None
    if not isinstance(data, Mapping) or "init_parameters" not in data:
        return None
    given = cast("Mapping[str, Any]", data["init_parameters"])
    # What is described inside is an object of its own here.
    described = [name for name, item in given.items() if isinstance(item, Mapping)]
    return {**given, **{n: getattr(value, n) for n in described if hasattr(value, n)}}


def _kept_arguments(value: Any, where: str) -> dict[str, Any]:
    """The arguments of an object that keeps each as an attribute of the same name."""
    kind: type[Any] = type(cast("object", value))
    found: dict[str, Any] = {}
    if kind.__init__ is object.__init__:
        return found
    for name, parameter in signature(kind).parameters.items():
        if hasattr(value, name) or hasattr(value, f"_{name}"):
            item = (
                getattr(value, name, None) if hasattr(value, name) else getattr(value, f"_{name}")
            )
            if item is not parameter.default and item != parameter.default:
                found[name] = item
        else:
            msg = f"{where}: {kind.__name__} does not tell how it was made; register this object."
            raise ConfigurationError(msg)
    return found


def _is_positional(parameter: Parameter) -> bool:
    return parameter.kind is Parameter.POSITIONAL_OR_KEYWORD


def _is_default(field: dataclasses.Field[Any], item: Any) -> bool:
    if field.default is not dataclasses.MISSING:
        return item is field.default or bool(
            type(item) is type(field.default) and item == field.default
        )
    factory = field.default_factory
    return factory is not dataclasses.MISSING and bool(item == factory())
