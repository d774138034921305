"""Schemas that are given as Python types: pydantic reads them and holds answers against them."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any, Literal, NewType, get_args, get_origin

from langgraph.errors import GraphBubbleUp
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.errors import PydanticUndefinedAnnotation, PydanticUserError
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticSerializationError, to_json
from typing_extensions import TypeAliasType

from ...state.errors import ConfigurationError
from ...state.structured_errors import SchemaMismatchError
from .circles import contains_itself
from .problems import pydantic_problems

_SUPPORTED = (
    "give a pydantic model, a dataclass, a TypedDict, an Enum, a type such as list[Item] or "
    "Literal['a', 'b'], a union of such types, or a JSON schema as a dict"
)


class _QuietJsonSchema(GenerateJsonSchema):
    """Leaves out what JSON schema cannot say, such as a default that is no JSON, in silence."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 -- pydantic's own declaration


@dataclass(frozen=True)
class TypedCheck:
    """Turns JSON values into objects of one type."""

    name: str
    """What to call the type in messages."""
    schema: dict[str, Any]
    """The JSON schema of the type."""
    recursive: bool
    """Whether the type contains itself."""
    adapter: TypeAdapter[Any]

    def __call__(self, value: object, root: Sequence[str | int] = ()) -> object:
        """Give the object that a JSON value stands for.

        Args:
            value: The value, as parsed.
            root: Where the value lies in the whole answer.

        Raises:
            SchemaMismatchError: It does not fit, or a validator of the type failed.
        """
        try:
            return self._validated(value)
        except ValidationError as error:
            problems = pydantic_problems(error, value, root)
            raise SchemaMismatchError(self.name, problems) from error
        except GraphBubbleUp:
            raise
        # The boundary to validators that users wrote, which may raise anything.
        except Exception as error:
            problems = [f"the value cannot be checked ({type(error).__name__})"]
            raise SchemaMismatchError(self.name, problems) from error

    def _validated(self, value: object) -> object:
        # By JSON, not by Python objects: what came from a model is JSON, and only so do strict
        # models take a date, an enum or a tuple.
        try:
            text = to_json(value, inf_nan_mode="constants")
        except (PydanticSerializationError, ValueError):
            return self.adapter.validate_python(value, by_alias=True, by_name=True)
        return self.adapter.validate_json(text, by_alias=True, by_name=True)


def check_for(schema: Any) -> TypedCheck:
    """Give the check for a type.

    Raises:
        ConfigurationError: The object is no type, or has no JSON form.
    """
    if isinstance(schema, type):
        return _check_for_class(schema)
    return _new_check(schema)


def type_name(schema: Any) -> str:
    """Give a type as a reader would write it, without its module.

    >>> type_name(dict[str, list[int]])
    'dict[str, list[int]]'
    """
    origin = get_origin(schema)
    if origin is None:
        return str(getattr(schema, "__name__", None) or schema)
    if hasattr(schema, "__metadata__"):  # Annotated
        return type_name(get_args(schema)[0])
    if origin is Literal:
        return "choice"
    arguments = [type_name(argument) for argument in get_args(schema) if argument is not ...]
    name = str(getattr(origin, "__name__", origin))
    if name in {"Union", "UnionType"}:
        return "_or_".join(arguments)
    return f"{name}[{', '.join(arguments)}]"


def type_description(schema: Any) -> str:
    """Give the docstring that the user wrote for a type, or nothing."""
    if not isinstance(schema, type) or schema.__module__ == "builtins":
        return ""
    if issubclass(schema, BaseModel):
        generic = schema.__pydantic_generic_metadata__["origin"]
        text = schema.__doc__ or (generic.__doc__ if generic else None)
    else:
        text = schema.__doc__
    # Dataclasses and named tuples without a docstring get their signature for one.
    if not text or text.startswith(f"{schema.__name__}("):
        return ""
    return inspect.cleandoc(text)


# Middleware may make a strategy for each request, so what is known of a class is kept. Only of
# classes: equal unions and generic types may differ in the order of their members.
@lru_cache(maxsize=256)
def _check_for_class(schema: type) -> TypedCheck:
    return _new_check(schema)


def _new_check(schema: Any) -> TypedCheck:
    name = type_name(schema) if _is_type(schema) else repr(schema)
    where = f"The schema {name!r}"
    _refuse_useless(schema, where)
    try:
        adapter = TypeAdapter[Any](schema)
        json_schema = adapter.json_schema(schema_generator=_QuietJsonSchema)
    # Pydantic's own family, a name that cannot be resolved, and what a type's own hooks raise.
    except (
        PydanticUserError,
        PydanticUndefinedAnnotation,
        NameError,
        TypeError,
        ValueError,
        RecursionError,
    ) as error:
        reason = str(error).split("\n\nFor further information", maxsplit=1)[0]
        msg = f"{where} cannot be used for structured output: {reason}; {_SUPPORTED}."
        raise ConfigurationError(msg) from error
    return TypedCheck(name, json_schema, contains_itself(json_schema), adapter)


def _is_type(schema: Any) -> bool:
    named = isinstance(schema, type | NewType | TypeAliasType) or schema is Any
    return named or get_origin(schema) is not None


def _refuse_useless(schema: Any, where: str) -> None:
    if schema is None or schema is type(None):
        msg = (
            f"{where} cannot be used for structured output: an answer of None would look like "
            "no answer; make a field of a model optional instead."
        )
        raise ConfigurationError(msg)
    if not _is_type(schema):
        msg = f"{where} is an object, not a schema; {_SUPPORTED}."
        raise ConfigurationError(msg)
    if isinstance(schema, type) and issubclass(schema, Enum) and not list(schema):
        msg = f"{where} is an enum without members, so no answer can fit; give it members."
        raise ConfigurationError(msg)
