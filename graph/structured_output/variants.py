"""The alternatives of a schema: the members of a union, each of which becomes one output tool."""

from __future__ import annotations

from collections.abc import Iterator
from types import UnionType
from typing import Any, Union, get_args, get_origin

from typing_extensions import TypeAliasType

from ...state.errors import ConfigurationError
from .json_value import is_list, is_object

_BESIDE_ONE_OF = frozenset(
    ("$defs", "$schema", "definitions", "description", "discriminator", "title", "oneOf")
)
_TO_DEFINITIONS = ("#/$defs/", "#/definitions/")


def variants(schema: Any) -> list[Any]:
    """Give the alternatives of a schema in order, or the schema itself where it has none.

    The members of a union and the ``oneOf`` of a JSON schema without other conditions are its
    alternatives; so are theirs in turn. An ``Annotated`` union stays whole, because its
    validators and its discriminator belong to the whole.
    """
    return list(_variants(unpacked(schema)))


def is_union(schema: Any) -> bool:
    """Whether a schema has alternatives."""
    return len(variants(schema)) > 1


def unpacked(schema: Any) -> Any:
    """Give the schema out of the envelope in which OpenAI's API takes it, or any other as it is.

    Source: OpenAI API reference, "Structured model outputs", field ``response_format``, 2026.
    """
    if not is_object(schema) or schema.get("type") != "json_schema":
        return schema
    inner = schema.get("json_schema", schema)
    found = inner.get("schema") if is_object(inner) else None
    if not is_object(found):
        msg = (
            "A schema of type 'json_schema' has its schema under 'schema' or under "
            f"'json_schema' and 'schema'; neither is in {schema!r:.200}. Give the schema itself."
        )
        raise ConfigurationError(msg)
    name = inner.get("name")
    return {**found, "title": name} if isinstance(name, str) else found


def _variants(schema: Any) -> Iterator[Any]:
    if isinstance(schema, TypeAliasType) and _is_type_union(schema.__value__):
        yield from _variants(schema.__value__)
    elif _is_type_union(schema):
        for member in get_args(schema):
            yield from _variants(member)
    elif is_object(schema) and _is_plain_one_of(schema):
        yield from _alternatives(schema)
    else:
        yield schema


def _is_type_union(schema: Any) -> bool:
    origin: object = get_origin(schema)
    return origin is Union or origin is UnionType


def _is_plain_one_of(schema: dict[str, Any]) -> bool:
    return "oneOf" in schema and _BESIDE_ONE_OF.issuperset(schema) and not _refers_to_places(schema)


def _refers_to_places(schema: dict[str, Any]) -> bool:
    """Whether a reference leads to anything but a definition; taken apart, it would lead astray."""
    waiting: list[object] = [schema]
    seen: set[int] = set()
    while waiting:
        here = waiting.pop()
        if id(here) in seen:
            continue
        seen.add(id(here))
        if is_list(here):
            waiting += here
        elif is_object(here):
            waiting += here.values()
            reference = here.get("$ref")
            if isinstance(reference, str) and not reference.startswith(_TO_DEFINITIONS):
                return True
    return False


def _alternatives(schema: dict[str, Any]) -> Iterator[Any]:
    members: object = schema["oneOf"]
    if not is_list(members) or not members:
        msg = f"'oneOf' of a schema is a list of schemas, not {members!r:.200}; give at least one."
        raise ConfigurationError(msg)
    for number, member in enumerate(members):
        if not is_object(member):
            msg = f"The schema at #/oneOf/{number} is {member!r:.200}; give a schema as a dict."
            raise ConfigurationError(msg)
        yield from _variants(_on_its_own(member, schema))


def _on_its_own(member: dict[str, Any], parent: dict[str, Any]) -> dict[str, Any]:
    own = dict(member)
    for key in ("$schema", "$defs", "definitions"):
        shared, inner = parent.get(key), own.get(key, {})
        if is_object(shared) and is_object(inner):
            own[key] = {**shared, **inner}
        elif key in parent:
            own.setdefault(key, shared)
    reference = own.get("$ref")
    if isinstance(reference, str) and "title" not in own:
        own["title"] = reference.rpartition("/")[2]
    return own
