"""The form in which a schema is offered to a provider: an object, with its references intact.

Providers take only objects as the arguments of a tool and as a native answer, so any other schema
is wrapped into an object with one field, and the answer is taken out of it again.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .circles import DEFINITIONS, children, definition
from .json_value import is_object
from .names import safe_name

WRAPPED_FIELD = "value"
"""The one field of the object around a schema that is no object itself."""


@dataclass(frozen=True)
class Shape:
    """What a provider is shown."""

    json_schema: dict[str, Any]
    """An object schema with a title that is a safe name."""
    wrapped: bool
    """Whether the answer is the one field of the object."""


def provider_shape(schema: Mapping[str, Any], name: str) -> Shape:
    """Give the object schema to offer for a schema.

    Args:
        schema: A valid JSON schema; not changed.
        name: Title where the schema has none that providers accept.
    """
    root = _inlined(schema)
    if not _is_object(root):
        return Shape(_wrapped(schema, name), wrapped=True)
    if root.get("type") != "object":
        root["type"] = "object"
    root.setdefault("properties", {})
    title = root.get("title")
    if not isinstance(title, str) or safe_name(title) != title:
        root["title"] = name
    return Shape(root, wrapped=False)


def _is_object(schema: Mapping[str, Any]) -> bool:
    kind = schema.get("type")
    return kind in ("object", ["object"]) or (kind is None and "properties" in schema)


def _inlined(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with a reference at its root replaced by what it points to."""
    root = dict(schema)
    # A chain of references is no longer than the number of definitions; the checks before this
    # have refused circles.
    while isinstance(root.get("$ref"), str) and "$id" not in root:
        goal = definition(schema, root["$ref"])
        if not is_object(goal) or "$id" in goal:
            break
        root = {**goal, **{key: value for key, value in root.items() if key != "$ref"}}
    return root


def _wrapped(schema: Mapping[str, Any], name: str) -> dict[str, Any]:
    inner = copy.deepcopy(dict(schema))
    inner.pop("$schema", None)
    definitions: dict[str, Any] = {}
    if "$id" not in inner:  # with one, references start from the inner schema wherever it stands
        definitions = {key: inner.pop(key) for key in DEFINITIONS if key in inner}
        _move_references(
            [inner, *(goal for group in definitions.values() for goal in group.values())]
        )
    return {
        "title": name,
        "type": "object",
        "properties": {WRAPPED_FIELD: inner},
        "required": [WRAPPED_FIELD],
        "additionalProperties": False,
        **definitions,
    }


def _move_references(schemas: list[Any]) -> None:
    """Let references to places in the wrapped schema point to where it stands now."""
    while schemas:
        here = schemas.pop()
        if not is_object(here):
            continue
        reference = str(here.get("$ref", ""))
        head, *steps = reference.split("/")
        if head == "#" and (not steps or steps[0] not in DEFINITIONS):
            here["$ref"] = f"#/properties/{WRAPPED_FIELD}{reference[1:]}"
        schemas += [child for _, _, child in children(here)]
