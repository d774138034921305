"""Where the references of a JSON schema lead, and whether they lead in circles."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from jsonschema.protocols import Validator
from jsonschema_specifications import (  # type: ignore[import-untyped]  # it ships no types
    REGISTRY as METASCHEMAS,
)
from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012, specification_with

from ...state.errors import ConfigurationError
from .circles import children, has_cycle
from .json_value import is_object

_IN_PLACE = frozenset(("allOf", "anyOf", "oneOf", "dependentSchemas", "if", "then", "else", "not"))
_REFERENCES = ("$ref", "$dynamicRef")
_TO_A_DEFINITION = re.compile(r"#/(\$defs|definitions)/[^/]+")

REGISTRY: Registry[Any] = METASCHEMAS
"""The metaschemas and nothing else: a reference is never fetched from anywhere."""


@dataclass
class References:
    """The schemas inside one schema, with the ways from each to the next."""

    in_place: dict[int, list[int]] = field(default_factory=dict[int, list[int]])
    """Schemas that apply to the same value, by identity."""
    inside: dict[int, list[int]] = field(default_factory=dict[int, list[int]])
    """All schemas that a schema leads to."""

    @property
    def recursive(self) -> bool:
        """Whether a schema leads back to itself, as the schema of a tree does."""
        return has_cycle(self.inside)

    @property
    def endless(self) -> bool:
        """Whether a schema applies itself to the same value, so that checking never ends."""
        return has_cycle(self.in_place)


def follow_references(
    schema: dict[str, Any], where: str, draft: type[Validator] = Draft202012Validator
) -> References:
    """Follow every reference of a schema.

    Args:
        schema: A JSON schema whose keywords are valid, those of its definitions included.
        where: What to call the schema in messages.
        draft: The edition of JSON schema that it is written in.

    Raises:
        ConfigurationError: A reference leads nowhere, to something that is no schema, or to
            another document; documents are never fetched.
    """
    specification = specification_with(str(schema.get("$schema", "")), default=DRAFT202012)
    root = specification.create_resource(schema)
    base = root.id() or ""
    found = References()
    start = REGISTRY.with_resource(base, root).resolver(base)
    waiting: list[tuple[str, Any, Any]] = [("#", schema, start)]
    while waiting:
        place, here, resolver = waiting.pop()
        if not is_object(here) or id(here) in found.inside:
            continue
        inner = resolver.in_subresource(specification.create_resource(here))
        steps, at_once = found.inside[id(here)], found.in_place[id(here)] = [], []
        for keyword, relative, child in children(here):
            waiting.append((f"{place}/{relative}", child, inner))
            steps.append(id(child))
            if keyword in _IN_PLACE:
                at_once.append(id(child))
        for keyword in _REFERENCES:
            if keyword in here:
                goal, goal_resolver = _goal(
                    inner, here[keyword], f"{where}: the reference at {place}/{keyword}"
                )
                if not _TO_A_DEFINITION.fullmatch(here[keyword]):
                    _check(goal, draft, f"{where}: the reference at {place}/{keyword}")
                waiting.append((f"{place}/{keyword}", goal, goal_resolver))
                steps.append(id(goal))
                at_once.append(id(goal))
    return found


def _goal(resolver: Any, reference: str, where: str) -> tuple[Any, Any]:
    try:
        resolved = resolver.lookup(reference)
    # A pointer with a word where a list stands raises ValueError, an odd address the others.
    except (Unresolvable, ValueError, TypeError, LookupError, AttributeError) as error:
        msg = (
            f"{where}, {reference!r}, leads nowhere; define its goal under '$defs' of the same "
            "schema. Other documents are not fetched."
        )
        raise ConfigurationError(msg) from error
    return resolved.contents, resolved.resolver


def _check(goal: Any, draft: type[Validator], where: str) -> None:
    try:
        draft.check_schema(goal)
    except SchemaError as error:
        msg = f"{where} leads to something that is no schema: {error.message}; let it point to one."
        raise ConfigurationError(msg) from error
