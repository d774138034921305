"""The schemas inside a JSON schema, and whether they lead in circles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .json_value import is_list, is_object

_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_SINGLES = (
    "additionalItems",
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
)
DEFINITIONS = ("$defs", "definitions")
"""Keywords under which a schema keeps others for reference."""


def children(schema: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Give the schemas directly inside a schema: keyword, place relative to it, the schema."""
    for keyword in _MAPS:
        inner = schema.get(keyword)
        if is_object(inner):
            for key, value in inner.items():
                yield keyword, f"{keyword}/{_escaped(key)}", value
    for keyword in (*_LISTS, "items"):
        inner = schema.get(keyword)
        if is_list(inner):
            for number, value in enumerate(inner):
                yield keyword, f"{keyword}/{number}", value
    for keyword in _SINGLES:
        if is_object(schema.get(keyword)):
            yield keyword, keyword, schema[keyword]


def definition(schema: Mapping[str, Any], reference: object) -> Any:
    """Give what a reference to a definition of the same schema means, or None for any other."""
    if not isinstance(reference, str):
        return None
    head, _, rest = reference.partition("/")
    keyword, _, key = rest.partition("/")
    if head != "#" or keyword not in DEFINITIONS or "/" in key or "%" in key:
        return None
    return schema.get(keyword, {}).get(key.replace("~1", "/").replace("~0", "~"))


def contains_itself(schema: dict[str, Any]) -> bool:
    """Whether a schema whose references all lead to its own definitions leads back to itself."""
    graph: dict[int, list[int]] = {}
    waiting: list[Any] = [schema]
    while waiting:
        here = waiting.pop()
        if is_object(here) and id(here) not in graph:
            after = [child for _, _, child in children(here)]
            after.append(definition(schema, here.get("$ref")))
            graph[id(here)] = [id(child) for child in after]
            waiting += after
    return has_cycle(graph)


def has_cycle(graph: Mapping[int, list[int]]) -> bool:
    """Whether following a graph from some node leads back to that node."""
    done: set[int] = set()
    for start in graph:
        path: set[int] = set()
        waiting = [(start, False)]
        while waiting:
            node, leaving = waiting.pop()
            if leaving:
                path.discard(node)
                done.add(node)
            elif node in path:
                return True
            elif node not in done:
                path.add(node)
                waiting.append((node, True))
                waiting += [(after, False) for after in graph.get(node, ())]
    return False


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
